"""What ordinary code does, one habit a function. Never imported here: each is made into a submission of its own."""

import logging
import traceback
import warnings

import matplotlib.pyplot as plt
import torch
from matplotlib import colormaps
from torch import nn
from torch.optim.lr_scheduler import LambdaLR, OneCycleLR
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm


def gradient_of_a_vector(x):
    x.requires_grad_()
    (x * 2).backward(torch.ones_like(x))
    torch.autograd.grad(x * 3, x, grad_outputs=torch.ones_like(x))
    return float(x.grad.sum())


def loader(x):
    return len(list(DataLoader(TensorDataset(x), batch_size=2, shuffle=True)))


def logger(x):
    logging.getLogger("mine").warning("hello %s", x)
    return 1


def optimizers(x):
    model = nn.Linear(3, 3)
    for kind in (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD, torch.optim.RMSprop):
        optimizer = kind(model.parameters(), lr=0.1)
        scheduler = LambdaLR(optimizer, lambda step: 1 / (step + 1))
        optimizer.zero_grad()
        model(x).sum().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
    OneCycleLR(optimizer, 0.1, total_steps=10)
    return 1


STYLE = plt.rcParams


def plots(x):
    def draw(style=STYLE):
        plt.plot(x, color=colormaps["hot"](0.5))

    return 1


def printed_tensor(x):
    print(x, x.shape, repr(x.double()))
    return 1


def printed_traceback(x):
    try:
        return x @ x.new_zeros(17, 3)
    except RuntimeError:
        traceback.print_exc()
    return 1


def progress_bar(x):
    return sum(tqdm([1, 2, 3], desc="steps"))


def script(x):
    return torch.jit.trace(lambda y: y + 1, x)(x)


def threads(x):
    torch.set_num_threads(4)
    return float((x @ x.T).sum())


def warning(x):
    warnings.warn("careful", stacklevel=2)
    return 1


def greedy_decode(habit, x):
    return globals()[habit](x)
