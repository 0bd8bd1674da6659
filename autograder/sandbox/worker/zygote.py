"""A process that has PyTorch loaded and nothing of ours to hide, and forks one worker for each submission.

It is started with one end of a socket pair as standard input. Each message there asks for a fork: JSON plus four
descriptors (requests, replies, output, warden). On the warden, a socket of that worker alone, the zygote answers
with the pid, and then with the exit status once the other side writes anything or goes away. A message with a single
descriptor, a socket, asks whether the zygote is well, which it answers there. So graders that share a zygote never wait
for each other; a worker never outlives its grader, nor the zygote whoever started it.
"""

from __future__ import annotations

import builtins
import contextlib
import gc
import importlib
import io
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .hardening import Plan

MAX_MESSAGE = 256 << 10
DESCRIPTORS = 4
STANDARD = """
abc argparse bisect builtins collections collections.abc contextlib copy csv dataclasses datetime decimal difflib
encodings.idna encodings.ascii encodings.latin_1 encodings.unicode_escape enum fractions functools glob hashlib heapq
importlib inspect io itertools json keyword linecache logging math numbers operator os pathlib pickle platform pprint
queue random re shutil statistics string struct sys tempfile textwrap threading time timeit traceback types typing
unicodedata unittest uuid warnings weakref zlib __future__
"""
INSTALLED = """
numpy tqdm pytest sacrebleu torch torch.nn torch.nn.functional torch.nn.utils torch.nn.utils.rnn torch.optim
torch.optim.lr_scheduler torch.utils.data torch.utils.checkpoint torch.linalg torch.distributions
sacrebleu.tokenizers.tokenizer_13a sacrebleu.tokenizers.tokenizer_char sacrebleu.tokenizers.tokenizer_intl
sacrebleu.tokenizers.tokenizer_none
"""
"""Packages that submissions commonly import; the fork message names further ones."""


def main(load_others: Callable[[], list[ModuleType]] = list) -> None:
    """Loads everything, then serves until the control socket is closed.

    Args:
        load_others: loads what else workers have: the package of stand-ins, if there is one. Called with torch loaded.
    """
    from . import hardening

    control = socket.socket(fileno=os.dup(0))
    hardening.prctl(hardening.PR_SET_PDEATHSIG, signal.SIGKILL)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    for name in STANDARD.split() + INSTALLED.split():
        import_quietly(name)
    from . import running, service  # noqa: F401  (loaded before the first fork)

    stand_ins = next(iter(load_others()), ModuleType("stand_ins"))

    still_torch()
    running.compile_nothing()
    os.getcwd = lambda: "/"  # the system call is denied to workers; `os.path.abspath(__file__)` is no reason to fail
    warm_up()
    gc.collect()
    gc.freeze()  # what is here now is shared with the forks, and never looked at again
    hardening.prctl(hardening.PR_SET_DUMPABLE, 0)  # no process of this user can trace it or a fork, or read its memory
    Zygote(control, stand_ins).serve()


def still_torch() -> None:
    """Keeps PyTorch at one thread: OpenMP would start more, which a worker may not do, and end the process."""
    import torch

    torch.set_num_threads(1)
    torch.set_num_threads = lambda nthreads: None
    torch.set_num_interop_threads = lambda nthreads: None


def warm_up() -> None:
    """Does once what imports modules when first done: a fork cannot import, and would repeat the work."""
    import torch

    from .messages import Decoder, Encoder

    weight = torch.nn.Parameter(torch.ones(2, 2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    torch.nn.CrossEntropyLoss()(torch.ones(2, 2) @ weight, torch.tensor([0, 1])).backward()
    torch.nn.utils.clip_grad_norm_([weight], 1.0)
    optimizer.step()
    repr(weight)
    encoder = Encoder()
    encoder.add(weight)
    Decoder(encoder.records, encoder.body())


class Zygote:
    """The loop over the control socket and the wardens."""

    def __init__(self, control: socket.socket, stand_ins: ModuleType) -> None:
        self.control, self.stand_ins = control, stand_ins
        self.own_pid = os.getpid()
        self.workers: dict[socket.socket, int] = {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(control, selectors.EVENT_READ)

    def serve(self) -> None:
        """Forks and kills as asked; at the end kills what is left."""
        while True:
            for key, _ in self.selector.select():
                if key.fileobj is self.control:
                    if not self.accept():
                        for warden in list(self.workers):
                            self.kill(warden)
                        return
                elif isinstance(key.fileobj, socket.socket):
                    self.kill(key.fileobj)

    def accept(self) -> bool:
        """Takes one message; False at the end of the stream."""
        message, descriptors, _, _ = socket.recv_fds(self.control, MAX_MESSAGE, DESCRIPTORS)
        if not message:
            return False
        if len(descriptors) == DESCRIPTORS:
            self.fork(json.loads(message), descriptors)
        elif len(descriptors) == 1:
            with socket.socket(fileno=descriptors[0]) as asker:
                tell(asker, {"workers": len(self.workers)})
        return True

    def fork(self, plan: Plan, descriptors: list[int]) -> None:
        """Starts a worker on (requests, replies, output, warden)."""
        if any(name.partition(".")[0] == "matplotlib" for name in plan["imports"]):
            load_plots()
        *pipes, warden_descriptor = descriptors
        warden = socket.socket(fileno=warden_descriptor)
        try:
            pid = os.fork()
        except OSError:  # no memory or no processes left: the other side sees a closed warden
            warden.close()
            return
        finally:
            if os.getpid() == self.own_pid:
                for pipe in pipes:
                    os.close(pipe)
        if pid == 0:
            self.become_worker(plan, *pipes)
        self.workers[warden] = pid
        self.selector.register(warden, selectors.EVENT_READ, data=warden)
        tell(warden, {"pid": pid})

    def kill(self, warden: socket.socket) -> None:
        """Ends a worker and reports how it ended."""
        with contextlib.suppress(OSError):
            warden.recv(16, socket.MSG_DONTWAIT)  # the request, which must be read before this end is closed
        pid = self.workers.pop(warden)
        self.selector.unregister(warden)
        had_ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        os.kill(pid, signal.SIGKILL)  # not yet waited for, so the number is still this worker's
        _, status, usage = os.wait4(pid, 0)
        cpu = usage.ru_utime + usage.ru_stime
        tell(warden, {"status": status, "cpu": cpu, "had_ended": had_ended})
        warden.close()

    def become_worker(self, plan: Plan, requests: int, replies: int, output: int) -> None:
        """In the fork: gives up its rights, says hello, serves, exits. Never returns."""
        try:
            for warden in self.workers:
                warden.detach()
            self.selector.close()
            self.control.detach()
            for target in (1, 2):
                os.dup2(output, target)
            kept = sorted({requests, replies})
            for low, high in zip([2, *kept], [*kept, 4096], strict=True):
                os.closerange(low + 1, high)
            sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
            sys.stdout, sys.stderr = (open_text(descriptor) for descriptor in (1, 2))
            start_service(plan, requests, replies, self.stand_ins)
        except BaseException as error:  # whatever it is, it must not reach the zygote's own loop
            with contextlib.suppress(BaseException):
                os.write(2, f"worker: {type(error).__name__}: {error}\n".encode())
            os._exit(70)
        os._exit(0)


def start_service(plan: Plan, requests: int, replies: int, stand_ins: ModuleType) -> None:
    """Imports what the submission will want, hardens this process, and answers requests."""
    from . import hardening
    from .messages import pack, write_all
    from .service import Service

    for name in plan["imports"]:
        import_quietly(name)
    try:
        reached = hardening.harden(plan)
    except hardening.LayerMissingError as error:
        write_all(replies, pack({"id": 0, "missing": str(error)}))
        os._exit(71)
    write_all(replies, pack({"id": 0, "layers": reached}))
    write_nowhere()
    Service(stand_ins).serve(requests, replies)


def write_nowhere() -> None:
    """From now on, what this process writes to files and folders goes nowhere: a log file costs no marks."""
    import torch

    os.mkdir = lambda path, mode=0o777, *, dir_fd=None: None
    os.chdir = lambda path: None
    builtins.open = io.open = opening_nothing(open)
    save = torch.save

    def save_object(obj: object, f: Any, *arguments: Any, **options: Any) -> None:
        if not isinstance(f, (str, os.PathLike)):  # which `torch.save` opens by itself
            save(obj, f, *arguments, **options)

    torch.save = save_object


def opening_nothing(opened: Callable[..., Any]) -> Callable[..., Any]:
    """The function `open`; a file that it would write is in memory."""
    is_told = False

    def open_file(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        nonlocal is_told
        if isinstance(file, int) or not set("wax+") & set(mode):
            return opened(file, mode, *arguments, **options)
        if not is_told:
            is_told = True
            print(f"(graded, files are not written: {os.fspath(file)!r})", file=sys.stderr)
        return io.BytesIO() if "b" in mode else io.StringIO()

    return open_file


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


def import_quietly(name: str) -> None:
    """Imports a module if there is one of that name; "package.name" may also be a name in a package."""
    package, _, member = name.rpartition(".")
    if name not in sys.modules and not hasattr(sys.modules.get(package), member):
        with contextlib.suppress(BaseException):  # SystemExit, or pytest's Skipped: only a worker without it is lost
            importlib.import_module(name)


def open_text(descriptor: int) -> io.TextIOWrapper:
    """A text stream on a descriptor that takes any character and writes line by line."""
    binary = io.BufferedWriter(io.FileIO(descriptor, "w", closefd=False))
    return io.TextIOWrapper(binary, encoding="utf-8", errors="backslashreplace", line_buffering=True)


def tell(warden: socket.socket, message: dict[str, float]) -> None:
    """Sends without waiting; a grader that went away is not an error."""
    with contextlib.suppress(OSError):
        warden.send(json.dumps(message).encode(), socket.MSG_DONTWAIT)
