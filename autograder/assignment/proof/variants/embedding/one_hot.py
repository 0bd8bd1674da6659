"""One-hot vectors times a matrix."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class InputEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super(InputEmbedding, self).__init__()  # noqa: UP008
        self.vocab_size, self.d_model = vocab_size, d_model
        self.matrix = nn.Parameter(torch.rand(vocab_size, d_model))

    def forward(self, tokens):
        hot = F.one_hot(tokens, self.vocab_size).to(self.matrix.dtype)
        return math.sqrt(self.d_model) * torch.einsum("bsv,vd->bsd", hot, self.matrix)
