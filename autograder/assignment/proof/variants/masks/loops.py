"""Cell by cell, with a fresh random number for each."""

import torch


def diagonal_mask(length, width=1, random_prob=0.0, generator=None):
    noise = torch.rand((length, length), generator=generator).tolist()
    rows = [[abs(i - j) < width or noise[i][j] < random_prob for j in range(length)] for i in range(length)]
    return torch.tensor(rows, dtype=torch.bool)
