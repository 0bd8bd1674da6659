"""What ordinary code does, one habit a function. Never imported here: each is made into a submission of its own."""

import copy
import datetime
import html.parser
import logging
import sqlite3
import time
import traceback
import warnings
from dataclasses import dataclass, field

import matplotlib.pyplot as plt
import numpy as np
import torch
import tqdm as progress
from matplotlib import colormaps
from torch import nn
from torch.optim.lr_scheduler import LambdaLR, OneCycleLR
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm
from tqdm.auto import tqdm as auto_tqdm
from tqdm.auto import trange


def autocast(x):
    with torch.autocast("cpu", enabled=False):
        return x + 1


def checkpointing(x):
    checkpoint(lambda y: y.exp(), x.requires_grad_(), use_reentrant=False).sum().backward()
    return float(x.grad.sum())


def clock(x):
    return time.strftime("%Y") + str(datetime.datetime.now().year)


def copies(x):
    layer = nn.Linear(3, 3)
    layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(2)])
    return len(layers) + len(copy.deepcopy(layers.state_dict()))


@dataclass(frozen=True)
class Config:
    sizes: list[int] = field(default_factory=lambda: [1, 2])


def data_class(x):
    return Config().sizes


def default_dtype(x):
    torch.set_printoptions(precision=3)
    return torch.get_default_dtype()


def device(x):
    return x.to(torch.device("cuda" if torch.cuda.is_available() else "cpu"))


def einsum(x):
    return torch.einsum("ij,ij->", x, x)


def gradient_of_a_vector(x):
    x.requires_grad_()
    (x * 2).backward(torch.ones_like(x))
    torch.autograd.grad(x * 3, x, grad_outputs=torch.ones_like(x))
    return float(x.grad.sum())


def initialisation(x):
    layer = nn.Linear(3, 3)
    nn.init.xavier_uniform_(layer.weight)
    torch.manual_seed(3)
    return float(nn.utils.parameters_to_vector(layer.parameters()).sum())


def late_import(x):
    import fractions
    import statistics

    return float(fractions.Fraction(statistics.mean([1, 3])))


def loader(x):
    return len(list(DataLoader(TensorDataset(x), batch_size=2, shuffle=True)))


def logger(x):
    logging.getLogger("mine").warning("hello %s", x)
    return 1


@torch.no_grad()
def no_gradients(x):
    with torch.inference_mode():
        return x + 1


def numpy(x):
    return float(np.triu(np.ones((3, 3)), 1).sum() + np.random.rand())


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


def printed_module(x):
    print(nn.Linear(2, 2))
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


def progress_bar_of_a_module(x):
    return sum(progress.trange(4))


def progress_bar_in_a_notebook(x):
    return sum(auto_tqdm([1, 2])) + sum(trange(3))


def script(x):
    return torch.jit.trace(lambda y: y + 1, x)(x)


def threads(x):
    torch.set_num_threads(4)
    return float((x @ x.T).sum())


def unusual_imports(x):
    return len(html.parser.__name__) + len(sqlite3.sqlite_version)


def vmap(x):
    return torch.func.vmap(torch.sum)(x)


def warning(x):
    warnings.warn("careful", stacklevel=2)
    return 1
