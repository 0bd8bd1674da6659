import torch


def habit(x):
    return torch.jit.trace(lambda y: y + 1, x)(x)
