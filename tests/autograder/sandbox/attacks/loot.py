"""Reads what the grader keeps to itself: its files, environment, descriptors, objects, memory."""

import ctypes
import gc
import os
import re
import sys

import torch
from torch import nn

SECRET_FILE, FOLDER = "@SECRET_FILE@", "@FOLDER@"


def descriptors(x):
    """Reads whatever descriptors were left open."""
    for descriptor in range(3, 200):
        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            print(os.read(descriptor, 10_000))
        except OSError:
            continue


def environment(x):
    """Prints its own environment and that of its parent."""
    print(dict(os.environ))
    print(open(f"/proc/{os.getppid()}/environ").read())


def error_message(x):
    """Carries what it has found out in an exception's text instead of printing it."""
    raise ValueError(open(SECRET_FILE).read())


def file(x):
    """Reads the file of expected values and prints it."""
    print(open(SECRET_FILE).read())


def folder(x):
    """Lists the grader's folder and prints every file in it."""
    for inside, _, names in os.walk(FOLDER):
        for name in names:
            print(open(os.path.join(inside, name), errors="replace").read())


def frames(x):
    """Climbs the stack of calls and prints all names it finds there."""
    frame = sys._getframe()
    while frame is not None:
        print({name: str(value)[:200] for name, value in {**frame.f_globals, **frame.f_locals}.items()})
        frame = frame.f_back


def garbage(x):
    """Searches every object that the garbage collector knows."""
    for thing in gc.get_objects():
        if type(thing) is dict:
            for value in list(thing.values()):
                if type(value) is str and value.startswith("TOKEN-"):
                    print(value)


def libc(x):
    """Reads the file through the C library."""
    library = ctypes.CDLL(None)
    descriptor = library.open(SECRET_FILE.encode(), 0)
    buffer = ctypes.create_string_buffer(1000)
    library.read(descriptor, buffer, 1000)
    print(buffer.value)


def own_memory(x):
    """Searches its own memory for what the grader left in it, through /proc."""
    _search_memory("self")


def parent_memory(x):
    """Searches the memory of the parent process for the secret."""
    _search_memory(os.getppid())


def _search_memory(process):
    ranges = [line.split()[0].split("-") for line in open(f"/proc/{process}/maps") if " rw-p " in line]
    with open(f"/proc/{process}/mem", "rb", 0) as memory:
        for start, end in ranges:
            try:
                memory.seek(int(start, 16))
                print(re.findall(rb"TOKEN-[0-9a-f]{32}", memory.read(int(end, 16) - int(start, 16)))[:3])
            except (OSError, ValueError, OverflowError):
                continue


def parameter_names(layer):
    """Carries what it has found out in the names of its parameters."""
    layer.register_parameter(open(SECRET_FILE).read().strip(), nn.Parameter(torch.ones(1)))
    print([name for name, _ in layer.named_parameters()])
