"""Masks in other words."""

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


# %% padding_loops
# Sentence by sentence, token by token.


def padding_mask(tokens, pad_id):
    return torch.tensor([[[[int(token) != pad_id for token in row]]] for row in tokens.tolist()], dtype=torch.bool)


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


# %% causal_rows
# Row by row.


def causal_mask(length, device=None):
    mask = torch.zeros(length, length, dtype=torch.bool, device=device)
    for query in range(length):
        mask[query, : query + 1] = True
    return mask
