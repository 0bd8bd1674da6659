"""Reaches beyond its own process: files, secrets, other processes, the network, the kernel; then says so."""

import ctypes
import gc
import os
import re
import resource
import socket
import threading
import time

import torch
from torch import nn

SECRET_FILE, TARGET, PORT = "@SECRET_FILE@", "@TARGET@", "@PORT@"


def descriptors(x):
    for descriptor in range(3, 200):
        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            print(os.read(descriptor, 10_000))
        except OSError:
            continue


def environment(x):
    print(dict(os.environ))
    print(open(f"/proc/{os.getppid()}/environ").read())


def error_message(x):
    """Carries what it has found out in an exception's text instead of printing it."""
    raise ValueError(open(SECRET_FILE).read())


def garbage(x):
    """Searches every object that the garbage collector knows."""
    for thing in gc.get_objects():
        if type(thing) is dict:
            for value in list(thing.values()):
                if type(value) is str and value.startswith("TOKEN-"):
                    print(value)


def libc(x):
    library = ctypes.CDLL(None)
    descriptor = library.open(SECRET_FILE.encode(), 0)
    buffer = ctypes.create_string_buffer(1000)
    library.read(descriptor, buffer, 1000)
    print(buffer.value)


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


def another_program(x):
    os.execv("/bin/echo", ["echo", "REACHED"])


def fork(x):
    if os.fork() == 0:
        print("REACHED", flush=True)
        os._exit(0)
    os.wait()


def limits(x):
    resource.setrlimit(resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU))
    print("REACHED")


def network(x):
    socket.create_connection(("127.0.0.1", int(PORT)), timeout=2)
    print("REACHED")


def thread(x):
    """Starts a thread that goes on working after the call."""
    threading.Thread(target=print, args=("REACHED",)).start()


def link(x):
    os.symlink("/etc/passwd", TARGET)


def rename(x):
    os.rename(SECRET_FILE, TARGET)


def tensor(x):
    """Saves a tensor, which may hold what it has seen of the inputs."""
    torch.save(x, TARGET)


def right_environment(x):
    print(dict(os.environ))
    print("x" * 100_000)


def right_fork(x):
    if os.fork() == 0:
        print("REACHED", flush=True)
        time.sleep(1)
        os._exit(0)


def right_file(x):
    with open(TARGET, "w") as file:
        file.write("here")
