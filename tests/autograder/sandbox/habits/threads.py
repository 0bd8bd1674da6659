import torch


def habit(x):
    torch.set_num_threads(4)
    return float((x @ x.T).sum())
