"""A whole Transformer in one file, with other names, and masks that are True where nothing may be seen."""

import math

import torch
from torch import nn


class Embed(nn.Module):
    def __init__(self, n_words, embedding_size):
        super().__init__()
        self.lookup = nn.Embedding(n_words, embedding_size)
        self.factor = math.sqrt(embedding_size)

    def forward(self, words):
        return self.factor * self.lookup(words)


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


class Network(nn.Sequential):
    def __init__(self, embedding_size, hidden_size):
        super().__init__(nn.Linear(embedding_size, hidden_size), nn.ReLU(), nn.Linear(hidden_size, embedding_size))


class Block(nn.Module):
    def __init__(self, embedding_size, n_head, hidden_size, dropout):
        super().__init__()
        self.own, self.network = Attention(n_head, embedding_size), Network(embedding_size, hidden_size)
        self.norms = nn.ModuleList(Norm(embedding_size, 1e-6) for _ in range(2))
        self.drop = nn.Dropout(dropout)

    def forward(self, x, hidden):
        attended, alphas = self.own(x, x, x, hidden)
        x = self.norms[0](x + self.drop(attended))
        return self.norms[1](x + self.drop(self.network(x))), alphas
