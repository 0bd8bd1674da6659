"""A Transformer with names, masks and constructors of its own, PyTorch's LayerNorm, and no weights from its layers."""

import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.k, self.q = heads, nn.Linear(width, width), nn.Linear(width, width)
        self.v, self.out, self.seen = nn.Linear(width, width), nn.Linear(width, width), None

    def forward(self, x, source, hidden=None):
        q, k, v = (
            f(y).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for f, y in ((self.q, x), (self.k, source), (self.v, source))
        )
        scores = q @ k.mT / math.sqrt(q.size(-1))
        self.seen = (scores if hidden is None else scores.masked_fill(hidden, -1e9)).softmax(-1)
        return self.out((self.seen @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, settings, is_decoder=False):
        super().__init__()
        self.attentions = nn.ModuleList(Attention(settings["width"], settings["heads"]) for _ in range(1 + is_decoder))
        self.network = nn.Sequential(
            nn.Linear(settings["width"], settings["hidden"]),
            nn.ReLU(),
            nn.Linear(settings["hidden"], settings["width"]),
        )
        self.norms = nn.ModuleList(nn.LayerNorm(settings["width"]) for _ in range(2 + is_decoder))
        self.drop = nn.Dropout(settings["rate"])

    def forward(self, x, hidden=None, memory=None, hidden_there=None):
        x = self.norms[0](x + self.drop(self.attentions[0](x, x, hidden)))
        if memory is not None:
            x = self.norms[1](x + self.drop(self.attentions[1](x, memory, hidden_there)))
        return self.norms[-1](x + self.drop(self.network(x)))


class Stack(nn.Module):
    def __init__(self, block, n, **settings):
        super().__init__()
        self.blocks = nn.ModuleList(block(settings) for _ in range(n))

    def forward(self, x, *others):
        for block in self.blocks:
            x = block(x, *others)
        return x


class Model(nn.Module):
    def __init__(self, words, n, **settings):
        super().__init__()
        width = settings["width"]
        self.tables = nn.ModuleList(nn.Embedding(n_words, width) for n_words in words)
        self.encoder = Stack(Block, n, **settings)
        self.decoder = Stack(lambda given: Block(given, is_decoder=True), n, **settings)
        self.end, self.drop = nn.Linear(width, words[1]), nn.Dropout(settings["rate"])

    def embed(self, tokens, number):
        x = self.tables[number](tokens) * math.sqrt(self.tables[number].embedding_dim)
        positions = torch.arange(x.size(1), dtype=x.dtype)[:, None]
        frequencies = 10000 ** (-torch.arange(0, x.size(2), 2, dtype=x.dtype) / x.size(2))
        angles = positions * frequencies
        return self.drop(x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, : x.size(2)])

    def predict(self, x):
        return self.end(x).log_softmax(-1)
