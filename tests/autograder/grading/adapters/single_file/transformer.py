"""Parts of a Transformer in one file, with other names, and masks that are True where nothing may be seen."""

import math

import torch
from torch import nn


def attend(q, k, v, hidden=None):
    energies = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if hidden is not None:
        energies = energies.masked_fill(hidden, -1e30)
    alphas = torch.softmax(energies, dim=-1)
    return alphas @ v, alphas


class Attention(nn.Module):
    def __init__(self, n_head, embedding_size):
        super().__init__()
        if embedding_size % n_head:
            raise ValueError(f"embedding_size = {embedding_size} cannot be divided among {n_head} heads")
        self.n_head = n_head
        self.w_q, self.w_k = nn.Linear(embedding_size, embedding_size), nn.Linear(embedding_size, embedding_size)
        self.w_v, self.w_o = nn.Linear(embedding_size, embedding_size), nn.Linear(embedding_size, embedding_size)

    def heads_of(self, x):
        return x.unflatten(-1, (self.n_head, -1)).transpose(1, 2)

    def forward(self, q, k, v, hidden):
        q, k, v = self.heads_of(self.w_q(q)), self.heads_of(self.w_k(k)), self.heads_of(self.w_v(v))
        context, alphas = attend(q, k, v, hidden)
        return self.w_o(context.transpose(1, 2).flatten(-2)), alphas


class Norm(nn.Module):
    def __init__(self, embedding_size, eps):
        super().__init__()
        self.a, self.b, self.eps = (
            nn.Parameter(torch.ones(embedding_size)),
            nn.Parameter(torch.zeros(embedding_size)),
            eps,
        )

    def forward(self, x):
        mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
        return self.a * (x - mean) / (variance + self.eps).sqrt() + self.b
