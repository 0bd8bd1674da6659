"""Ends the grader without a mark, or keeps it busy for ever: time, memory, output, exits, crashes."""

import ctypes
import os
import signal
import sys

import torch


def backward(x, layer):
    """Ends the process in the backward pass."""
    return _Trap.apply(x * layer.gain)


class _Trap(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0

    @staticmethod
    def backward(ctx, gradient):
        os._exit(0)


def catch_all(x):
    """Loops, and catches whatever should end the loop."""
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


def crash(x):
    ctypes.memset(0, 1, 1)


def error_text(x):
    """Raises an exception whose text is never finished."""
    raise _EndlessError


class _EndlessError(Exception):
    def __str__(self):
        while True:
            pass


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
