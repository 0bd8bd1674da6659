import torch


def habit(x):
    torch.set_printoptions(precision=3)
    return torch.get_default_dtype()
