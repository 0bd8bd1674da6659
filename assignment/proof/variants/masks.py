"""Masks in other words."""

import torch

# %% triangles
# The band is the intersection of two triangles; random cells by torch.bernoulli.


def diagonal_mask(length, width=1, random_prob=0.0, generator=None):
    everything = torch.ones((length, length), dtype=torch.bool)
    band = everything.tril(width - 1) & everything.triu(1 - width)
    drawn = torch.empty(length, length).bernoulli_(random_prob, generator=generator)
    return torch.logical_or(band, drawn.bool())


# %% padding_view
# A view of the right shape.


def padding_mask(tokens, pad_id):
    b, s = tokens.shape
    return tokens.ne(pad_id).view(b, 1, 1, s)


# %% causal_compared
# Positions of queries and keys, compared.


def causal_mask(length, device=None):
    positions = torch.arange(length, device=device)
    return positions[None, :] <= positions[:, None]
