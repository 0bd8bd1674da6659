"""The `decode` of the tests' submission: computes what it is asked for, in a call, and may go wrong with it."""

import ctypes  # noqa: F401  for what is computed, as all of these
import os  # noqa: F401
import random  # noqa: F401
import sys
import time  # noqa: F401
import traceback  # noqa: F401

import numpy  # noqa: F401
import torch

HELD = []


class Own(Exception):  # noqa: N818  as a student may call it
    pass


def greedy_decode(expression, argument=None):
    return eval(expression, {**globals(), "argument": argument})


def fail(error):
    raise error


def deeper():
    return torch.zeros(2) @ torch.zeros(3)


def loop():
    while True:
        pass


def take_memory():
    while True:
        HELD.append(bytearray(50_000_000))


def say(lines):
    print("0123456789\n" * lines)
    print("to stderr", file=sys.stderr)


def nested(levels):
    return [nested(levels - 1)] if levels else []
