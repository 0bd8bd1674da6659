"""Attacks beside a LayerNorm that is right. Each name begins with how the attack beats a naive grader."""

import os
import time

import torch
from torch import nn

SECRET_FILE, TARGET = "@SECRET_FILE@", "@TARGET@"


def loot_file(x):
    """Prints the file of expected values."""
    print(open(SECRET_FILE).read())


def loot_loudly(x):
    """Prints the environment, and then more than is kept of the output."""
    print(dict(os.environ))
    print("x" * 100_000)


def mark_allclose(x):
    """Replaces the comparison, which is none of its business."""
    torch.allclose = lambda *arguments, **options: True
    torch.equal = torch.allclose


def protocol_odd_parameters(layer):
    """Has parameters that no test can learn: a whole number, an empty one."""
    layer.size = nn.Parameter(torch.tensor(len(layer.gain)), requires_grad=False)
    layer.nothing = nn.Parameter(torch.empty(0))


def reach_fork(x):
    """Leaves a process behind."""
    if os.fork() == 0:
        print("REACHED", flush=True)
        time.sleep(1)
        os._exit(0)


def write_file(x):
    """Writes a file."""
    with open(TARGET, "w") as file:
        file.write("here")
