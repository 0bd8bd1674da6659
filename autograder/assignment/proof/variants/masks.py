"""Diagonal masks in other words."""

import torch

# %% loops
# Cell by cell, with a fresh random number for each.


def diagonal_mask(length, width=1, random_prob=0.0, generator=None):
    noise = torch.rand((length, length), generator=generator).tolist()
    rows = [[abs(i - j) < width or noise[i][j] < random_prob for j in range(length)] for i in range(length)]
    return torch.tensor(rows, dtype=torch.bool)


# %% triangles
# The band is the intersection of two triangles; random cells by torch.bernoulli.


def diagonal_mask(length, width=1, random_prob=0.0, generator=None):
    everything = torch.ones((length, length), dtype=torch.bool)
    band = everything.tril(width - 1) & everything.triu(1 - width)
    drawn = torch.empty(length, length).bernoulli_(random_prob, generator=generator)
    return torch.logical_or(band, drawn.bool())
