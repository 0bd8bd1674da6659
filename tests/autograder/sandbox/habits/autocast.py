import torch


def habit(x):
    with torch.autocast("cpu", enabled=False):
        return x + 1
