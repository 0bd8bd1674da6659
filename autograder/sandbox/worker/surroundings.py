"""All that is done to a process before submitted code runs in it: libraries, rights, files.

The zygote loads libraries. A fork gives up rights, which the trusted side chooses; it ends a process that lacks a
required layer.
"""

import builtins
import contextlib
import ctypes
import gc
import importlib
import io
import os
import resource
import secrets
import struct
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import torch

from .messages import Decoder, Encoder
from .mirror import RemoteCall

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
SECCOMP_MODE_FILTER = 2
SIGKILL = 9
CREATE_RULESET, RESTRICT_SELF = ctypes.c_long(444), ctypes.c_long(446)  # the same numbers on every processor
CREATE_VERSION = ctypes.c_ulong(1)
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # ABI -> how many rights there are, from bit 0
NETWORK_RIGHTS = 0b11  # bind, connect (ABI 4)
SCOPES = 0b11  # abstract sockets, signals (ABI 6)

COMMON = """
numpy tqdm pytest sacrebleu torch torch.nn torch.nn.functional torch.nn.utils torch.nn.utils.rnn torch.optim
torch.optim.lr_scheduler torch.utils.data torch.utils.checkpoint torch.linalg torch.distributions
sacrebleu.tokenizers.tokenizer_13a sacrebleu.tokenizers.tokenizer_char sacrebleu.tokenizers.tokenizer_intl
sacrebleu.tokenizers.tokenizer_none encodings.idna encodings.ascii encodings.latin_1 encodings.unicode_escape
"""
"""Packages that submissions commonly import, and what they import later; a request to load one names further ones."""
HUGE_PAGE, MADV_COLLAPSE = 2 << 20, 25


class LayerMissingError(Exception):
    """The system lacks this layer."""


def granted(result: int) -> int:
    """The result of a call of the C library; where the kernel refuses, LayerMissingError with the reason."""
    if result < 0:
        raise LayerMissingError(os.strerror(ctypes.get_errno()))
    return result


def prctl(option: int, value: int, pointer: object = None) -> None:
    """Sets an attribute of this process."""
    zero = ctypes.c_ulong(0)
    granted(LIBC.prctl(option, ctypes.c_ulong(value), pointer or zero, zero, zero))


def harden(memory_bytes: int, cpu_seconds: int, layers: dict[str, str], uid: int | None, seccomp: str) -> list[str]:
    """Applies the layers in an order in which each is still permitted; returns the names of those in force.

    Args:
        memory_bytes: limit on top of the libraries.
        cpu_seconds: limit.
        layers: name -> "required" or "wanted"; a required one that cannot be had is an error.
        uid: the user to become; None = there is none.
        seccomp: the filter's program in hexadecimal digits; "" = none for this processor.
    """
    _be_alone()
    with contextlib.suppress(OSError):  # where the machine runs out of memory, this process goes, not the grader
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    _limit(memory_bytes, cpu_seconds)
    steps: dict[str, Callable[[], None]] = {
        "uid": lambda: _drop_user(uid),
        "no_new_privs": _forbid_gains,
        "landlock": enter_landlock,
        "seccomp": lambda: _filter_calls(bytes.fromhex(seccomp)),
    }
    reached = []
    for name in filter(layers.get, steps):
        try:
            steps[name]()
            reached.append(name)
        except (LayerMissingError, OSError, ValueError) as error:
            if layers[name] == "required":
                raise LayerMissingError(f"this machine lacks a required layer: {name}: {error}") from error
    return reached


def _limit(memory_bytes: int, cpu_seconds: int) -> None:
    n_pages = int(Path("/proc/self/statm").read_bytes().split()[0])
    with_libraries = memory_bytes + n_pages * os.sysconf("SC_PAGE_SIZE")
    limits = dict.fromkeys(("NPROC", "FSIZE", "CORE", "MEMLOCK", "MSGQUEUE"), (0, 0))
    limits |= {"AS": (with_libraries, with_libraries), "CPU": (cpu_seconds, cpu_seconds + 1), "NOFILE": (64, 64)}
    for name, limit in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), limit)


def _be_alone() -> None:
    """A helper that a library has started while it was imported would stay outside of all that follows."""
    if len([*Path("/proc/self/task").iterdir()]) != 1:
        raise LayerMissingError("an import has started a thread")
    with contextlib.suppress(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
        raise LayerMissingError("an import has started a process")


def _drop_user(uid: int | None) -> None:
    if uid is None:
        raise LayerMissingError("only root can change to another user")
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if os.getresuid() != (uid, uid, uid) or os.getresgid() != (uid, uid, uid) or os.getgroups():
        raise LayerMissingError("the user is not the one asked for")


def _forbid_gains() -> None:
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_DUMPABLE, 0)  # setresuid has reset it, and the next one too
    prctl(PR_SET_PDEATHSIG, SIGKILL)


def _filter_calls(program: bytes) -> None:
    """Installs a seccomp filter, whose instructions have eight bytes each."""
    if not program or len(program) % 8:
        raise LayerMissingError("no filter for this processor")
    code = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("@HxxxxxxP", len(program) // 8, ctypes.addressof(code)), 16)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header)


def enter_landlock() -> None:
    """Shuts this thread, and all that it will start, off from files, TCP, and signals beyond its own domain.

    Needs Linux 5.13 and no_new_privs. Behind seccomp this is a second lock on the same doors, built differently.
    """
    version = granted(LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), CREATE_VERSION))
    rights = [(1 << FILE_RIGHTS[min(version, 5)]) - 1]
    if version >= 4:
        rights.append(NETWORK_RIGHTS)
    if version >= 6:
        rights.append(SCOPES)
    attribute = struct.pack(f"@{len(rights)}Q", *rights)
    ruleset = granted(LIBC.syscall(CREATE_RULESET, attribute, ctypes.c_size_t(len(attribute)), ctypes.c_ulong(0)))
    try:
        granted(LIBC.syscall(RESTRICT_SELF, ctypes.c_long(ruleset), ctypes.c_ulong(0)))
    finally:
        os.close(ruleset)


def import_quietly(name: str) -> None:
    """Imports a module if there is one of that name; "package.name" may also be a name in a package."""
    package, _, member = name.rpartition(".")
    if name not in sys.modules and not hasattr(sys.modules.get(package), member):
        with contextlib.suppress(BaseException):  # SystemExit, or pytest's Skipped: only a worker without it is lost
            importlib.import_module(name)


def warm_up() -> None:
    """Does once what imports modules when first done: a fork cannot import, and would repeat the work."""
    torch.set_num_threads(1)  # OpenMP would start more, which a worker may not do, and end the process
    torch.set_num_threads = torch.set_num_interop_threads = do_nothing
    weight = torch.nn.Parameter(torch.ones(2, 2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    torch.nn.CrossEntropyLoss()(torch.ones(2, 2) @ weight, torch.tensor([0, 1])).backward()
    torch.nn.utils.clip_grad_norm_([weight], 1.0)
    optimizer.step()
    repr(weight)
    encoder = Encoder()
    encoder.add(weight)
    Decoder(encoder.records, encoder.body())
    inputs = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        connect: Any = RemoteCall.apply
        torch.autograd.gradcheck(lambda x: connect(list, (2 * x.detach(),), x), inputs, raise_exception=False)
        torch.testing.assert_close(inputs, inputs)
    torch.nn.LayerNorm(2).double().eval()(inputs)
    names_of_ours()


def close_memory() -> None:
    """Let NumPy ask for its array interface, which gives any object any memory as an array, by names that nobody knows.

    The strings that its C code holds get other letters, and keep their hashes, so that those letters lead nowhere
    either. NumPy's own types, whose attributes `numpy.ma` reads, get others of the same name.
    """
    for name in ("__array_interface__", "__array_struct__"):
        text, other = sys.intern(name), name.encode().decode()
        for kind in (numpy.ndarray, numpy.generic):
            [names] = gc.get_referents(vars(kind))
            names[other] = names.pop(text)
            ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
        letters = secrets.token_hex(len(text)).encode()[: len(text)]
        ctypes.memmove(id(text) + sys.getsizeof(text) - len(text) - 1, letters, len(text))


def collapse_memory() -> None:
    """Put this process's memory into huge pages where the kernel can: a fork copies a page table, an entry per page."""
    maps = [line.split() for line in Path("/proc/self/maps").read_text(encoding="ascii").splitlines()]
    for addresses, rights, _, _, inode, *name in maps:
        if rights == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
            first, last = (int(address, 16) for address in addresses.split("-"))
            for start in range(-(-first // HUGE_PAGE) * HUGE_PAGE, last - HUGE_PAGE + 1, HUGE_PAGE):
                LIBC.madvise(ctypes.c_void_p(start), ctypes.c_size_t(HUGE_PAGE), MADV_COLLAPSE)


@cache
def names_of_ours() -> list[str]:
    """The worker's own modules; found before a fork, since a walk over `sys.modules` would copy its pages."""
    return [name for name in sys.modules if name.partition(".")[0] in ("worker", "stand_ins")]


def take_out_ours() -> list[ModuleType | type]:
    """Hides the worker's own modules from what is imported from now on; returns them, and their classes."""
    modules = [sys.modules.pop(name) for name in names_of_ours()]
    sys.modules["__main__"] = ModuleType("__main__")
    members = [(module, value) for module in modules for value in vars(module).values()]
    classes = [kind for module, kind in members if isinstance(kind, type) and kind.__module__ == module.__name__]
    return [*modules, *classes]


def write_nowhere() -> None:
    """From now on, what this process writes to files and folders goes nowhere: a log file costs no marks."""
    opened, save, is_noted = open, torch.save, False

    def open_file(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        nonlocal is_noted
        if isinstance(file, int) or not set("wax+") & set(mode):
            return opened(file, mode, *arguments, **options)
        if not is_noted:
            print(f"(graded, files are not written: {os.fspath(file)!r})", file=sys.stderr)
        is_noted = True
        return io.BytesIO() if "b" in mode else io.StringIO()

    def save_object(obj: object, f: Any, *arguments: Any, **options: Any) -> None:
        if not isinstance(f, (str, os.PathLike)):  # which `torch.save` opens by itself
            save(obj, f, *arguments, **options)

    os.mkdir = lambda path, mode=0o777, *, dir_fd=None: None
    os.chdir = lambda path: None
    builtins.open = io.open = open_file
    torch.save = save_object


def load_plots() -> None:
    """Loads matplotlib; not in a fork, since it takes a second, makes a folder, and starts a thread for a moment.

    Nothing is drawn, for no screen: that would need fonts and other modules, which are in files.
    """
    with contextlib.suppress(Exception):
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import figure, pyplot
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        pyplot.subplots()
        pyplot.close("all")
        places = ((figure.Figure, "savefig tight_layout"), (FigureCanvasAgg, "draw"))
        for owner, names in (*places, (matplotlib, "use"), (pyplot, "switch_backend")):
            for name in names.split():
                setattr(owner, name, do_nothing)


def do_nothing(*arguments: object, **options: object) -> None:
    """In place of what would draw."""
