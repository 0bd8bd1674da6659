"""The `decode` of the tests' submission: what may go wrong in a call, by name."""

import os
import random
import sys
import time

import numpy
import torch

MEMORY = []


def greedy_decode(kind, argument=None):
    return globals()["do_" + kind](argument)


def do_raise(name):
    kinds = {"KeyError": KeyError("the key"), "Own": Own("own message"), "SystemExit": SystemExit(3)}
    raise kinds.get(name) or getattr(__builtins__, name, None) or __builtins__[name]("a message")


class Own(Exception):  # noqa: N818  as a student may call it
    pass


def do_message(argument):
    raise ValueError("\x1b[31mred\x1b[0m \u202e reversed\r" + "x" * 10_000_000)


def do_traceback(argument):
    return deeper(argument)


def deeper(argument):
    return torch.zeros(2) @ torch.zeros(3)


def do_loop(argument):
    while True:
        pass


def do_sleep(argument):
    time.sleep(1000)


def do_exit(argument):
    os._exit(argument)


def do_crash(argument):
    import ctypes

    ctypes.string_at(0)


def do_memory(argument):
    while True:
        MEMORY.append(bytearray(50_000_000))


def do_big_tensor(argument):
    return torch.zeros(10**10)


def do_print(argument):
    for _ in range(argument):
        print("0123456789" * 10)
    print("to stderr", file=sys.stderr)


def do_return(argument):
    values = {
        "numpy": numpy.ones(2),
        "object": Own("x"),
        "module": torch.nn.Linear(1, 1),
        "huge": 10**30,
        "sparse": torch.eye(3).to_sparse(),
        "complex": torch.ones(1, dtype=torch.complex64),
        "expanded": torch.ones(1).expand(10**10),
        "nested": nested(100),
        "deep": nested(2000),
        "long": [0] * 1_000_000,
    }
    return values[argument]


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


def do_random(argument):
    return [torch.rand(3), random.random()]


def do_generator(argument):
    return torch.rand(3, generator=argument)


def do_layout(argument):
    return [list(tensor.stride()) for tensor in argument]


def do_identity(argument):
    return [argument[0] is argument[1], argument[0]]
