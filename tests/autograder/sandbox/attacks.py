"""The hostile corpus: each method becomes a function in a submission of its own, and nothing is imported here.

An attack on a `layer` alone strikes when a LayerNorm is built, with an `x` when it is called. What it returns is the
output. Those called `right_…` stand in a LayerNorm that is right all the same.
"""

import functools
import gc
import os
import re
import resource
import signal
import socket
import sys
import threading
import time

import torch
from torch import nn

SECRET_FILE, TARGET, PORT = "@SECRET_FILE@", "@TARGET@", "@PORT@"


def _of_worker(name):
    """The names of the worker's module that has this one."""
    frame = sys._getframe()
    while name not in frame.f_globals:
        frame = frame.f_back
    return frame.f_globals


def _stop_no_kernels():
    _of_worker("ALL_KERNELS")["ALL_KERNELS"] = ()


def _write_everywhere(data, descriptors=range(3, 64)):
    """Writes into whatever descriptors there are."""
    for descriptor in descriptors:
        try:
            os.write(descriptor, data)
        except OSError:
            continue


def _normalised(layer, x):
    centred = x - x.mean(-1, keepdim=True)
    return layer.gain * centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + layer.epsilon) + layer.shift


class Mark:
    """Gets a mark for a wrong answer: by what compares, what is expected, a kernel, or what the worker answers."""

    def allclose(x):
        torch.allclose = lambda *arguments, **options: True

    def argument(x, layer):
        """Empties its argument, so that expected values that are computed from it later are the shift alone."""
        x.zero_()
        return torch.zeros_like(x) + layer.shift

    def kernel(x, layer, on_import=_stop_no_kernels()):
        """Uses a batch norm of PyTorch's that has no public name, and empties the list of those that are stopped."""
        flat = x.reshape(1, -1, x.shape[-1])
        ones, zeros = torch.ones_like(flat[0, :, 0]), torch.zeros_like(flat[0, :, 0])
        batch_norm = getattr(torch.ops.aten, bytes.fromhex("5f62617463685f6e6f726d5f776974685f757064617465").decode())
        norm = batch_norm(flat, ones, zeros, zeros.clone(), ones.clone(), 0.0, 1e-5)[0]
        return norm.reshape(x.shape) * layer.gain + layer.shift

    def closed_pipe(x):
        os.closerange(3, 4096)
        while True:
            pass

    def error_kinds(x):
        """Describes errors of kinds that would end the grader."""
        frames = [["layers.py", 10**9, "evil\n"], ["../../etc/passwd", 1, "f"]]
        error = {"kind": "KeyboardInterrupt", "message": "stop", "frames": frames}
        pack = _of_worker("pack")["pack"]
        _of_worker("pack")["pack"] = lambda header, body=b"": pack({"id": header["id"], "error": error})

    def expanded_parameters(layer):
        """Has 300 parameters that take no memory here, being expanded, and 64 MB each in a grader that copies them."""
        for index in range(300):
            large = torch.zeros(1, dtype=torch.float16).expand(32 << 20)
            layer.register_parameter(f"p{index}", nn.Parameter(large, requires_grad=False))
        layer.forward = functools.partial(_normalised, layer)

    def many_parameters(layer):
        """Has so many parameters that a grader has no end of roles to try for them."""
        layer.more = nn.ParameterList([nn.Parameter(torch.ones_like(layer.gain)) for _ in range(3_500)])
        layer.forward = functools.partial(_normalised, layer)

    def replies_ahead(x):
        """Answers requests that have not been made yet, with results of its choice."""
        pack = _of_worker("pack")["pack"]
        result = {"value": True, "graph": False, "changed": [-1, 99], "rewritten": [[0, 9]]}
        for number in range(200):
            _write_everywhere(pack({"id": number, "result": result, "tensors": []}))

    def trickle(x):
        """Sends a frame byte by byte, slowly."""
        while True:
            for byte in b"TAK1" + (1000).to_bytes(4, "little") + bytes(8):
                _write_everywhere(bytes([byte]), range(3, 8))
                time.sleep(0.05)

    def right_odd_parameters(layer):
        """Has parameters that no test can learn: a whole number, an empty one."""
        layer.size = nn.Parameter(torch.tensor(len(layer.gain)), requires_grad=False)
        layer.nothing = nn.Parameter(torch.empty(0))


class Reach:
    """Reaches beyond its own process: files, secrets, other processes, the network, the kernel; then says so."""

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

    def parent_memory(x):
        """Searches the memory of the parent process for the secret."""
        ranges = [line.split()[0].split("-") for line in open(f"/proc/{os.getppid()}/maps") if " rw-p " in line]
        with open(f"/proc/{os.getppid()}/mem", "rb", 0) as memory:
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

    def rename(x):
        os.rename(SECRET_FILE, TARGET)

    def right_fork(x):
        if os.fork() == 0:
            print("REACHED", flush=True)
            time.sleep(1)
            os._exit(0)

    def right_file(x):
        with open(TARGET, "w") as file:
            file.write("here")


class Stop:
    """Ends the grader without a mark, or keeps it busy for ever: time, memory, output, exits, crashes."""

    def backward(x, layer):
        """Ends the process in the backward pass."""

        class Trap(torch.autograd.Function):
            forward = staticmethod(lambda context, inputs: inputs * 0)
            backward = staticmethod(lambda context, gradient: os._exit(0))

        return Trap.apply(x * layer.gain)

    def catch_all(x):
        """Loops, and catches whatever should end the loop."""
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        while True:
            try:
                while True:
                    pass
            except BaseException:
                continue

    def error_text(x):
        """Raises an exception whose text is never finished."""

        class EndlessError(Exception):
            def __str__(self):
                while True:
                    pass

        raise EndlessError

    def kill_self(x):
        os.kill(os.getpid(), signal.SIGKILL)
        signal.raise_signal(signal.SIGKILL)
        os._exit(1)

    def memory(x):
        hoard = []
        while True:
            hoard.append(bytearray(64 << 20))

    def recursion(x):
        sys.setrecursionlimit(10**9)
        deep = lambda depth: deep(depth + 1)
        deep(0)

    def stderr(x):
        while True:
            os.write(2, b"\x1b[2J\x1b]0;owned\x07" * 1000)
