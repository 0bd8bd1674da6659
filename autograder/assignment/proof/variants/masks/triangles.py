"""The band is the intersection of two triangles; random cells by torch.bernoulli."""

import torch


def diagonal_mask(length, width=1, random_prob=0.0, generator=None):
    everything = torch.ones((length, length), dtype=torch.bool)
    band = everything.tril(width - 1) & everything.triu(1 - width)
    drawn = torch.empty(length, length).bernoulli_(random_prob, generator=generator)
    return torch.logical_or(band, drawn.bool())
