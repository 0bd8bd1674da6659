"""The surroundings of submitted code: loaded libraries, one thread, files and plots that go nowhere."""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import importlib
import io
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

from .hardening import LIBC
from .messages import Decoder, Encoder
from .mirror import RemoteCall

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
"""Packages that submissions commonly import; a request to load one names further ones."""


HUGE_PAGE, MADV_COLLAPSE = 2 << 20, 25


def import_common() -> None:
    """Imports what submissions commonly import."""
    for name in STANDARD.split() + INSTALLED.split():
        import_quietly(name)


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


def collapse_memory() -> None:
    """Put this process's memory into huge pages where the kernel can: a fork copies a page table, an entry per page."""
    maps = [line.split() for line in Path("/proc/self/maps").read_text(encoding="ascii").splitlines()]
    for addresses, rights, _, _, inode, *name in maps:
        if rights == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
            first, last = (int(address, 16) for address in addresses.split("-"))
            for start in range(-(-first // HUGE_PAGE) * HUGE_PAGE, last - HUGE_PAGE + 1, HUGE_PAGE):
                LIBC.madvise(ctypes.c_void_p(start), ctypes.c_size_t(HUGE_PAGE), MADV_COLLAPSE)


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
