"""Embeddings in other words and layouts."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import nn

# %% index_select
# Rows are picked one by one and stacked; shapes are checked along the way.


class InputEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        assert isinstance(vocab_size, int) and isinstance(d_model, int)
        self.vectors = nn.Parameter(torch.randn(vocab_size, d_model), requires_grad=True)

    def forward(self, tokens):
        assert torch.is_tensor(tokens) and tokens.dtype == torch.int64
        if tokens.dim() != 2:
            raise TypeError("expected (batch, length)")
        rows = torch.index_select(self.vectors, 0, tokens.reshape(-1))
        d_model = self.vectors.size(-1)
        return rows.reshape(tokens.size(0), tokens.size(1), d_model) * math.sqrt(d_model)


# %% linear_of_one_hot
# A linear map of one-hot vectors: the table lies on its side, (d, vocabulary).


class InputEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.to_vector = nn.Linear(vocab_size, d_model, bias=False)
        self.vocab_size = vocab_size
        self.scale = torch.sqrt(torch.tensor(float(d_model)))  # float32

    def forward(self, tokens):
        hot = F.one_hot(tokens, num_classes=self.vocab_size).to(self.to_vector.weight.dtype)
        return self.to_vector(hot).mul(self.scale)


# %% padding_index
# nn.Embedding with padding_idx: the vector of padding is not trained; the factor is a float32 buffer.


class InputEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model, pad_id=0):
        super().__init__()
        self.lookup = nn.Embedding(num_embeddings=vocab_size, embedding_dim=d_model, padding_idx=pad_id)
        nn.init.normal_(self.lookup.weight, mean=0, std=d_model**-0.5)
        self.register_buffer("scale", torch.tensor(math.sqrt(d_model)))

    def forward(self, tokens):
        return self.scale * self.lookup(tokens)


# %% tied_functional
# The table is a bare parameter that the model's predictions use too.


class InputEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.E = nn.Parameter(torch.randn(vocab_size, d_model) * d_model**-0.5)

    def forward(self, tokens):
        return nn.functional.embedding(tokens, self.E) * (self.E.size(1) ** 0.5)
