"""A linear map of one-hot vectors: the table lies on its side, (d, vocabulary)."""

import torch
import torch.nn.functional as F
from torch import nn


class InputEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.to_vector = nn.Linear(vocab_size, d_model, bias=False)
        self.vocab_size = vocab_size
        self.scale = torch.sqrt(torch.tensor(float(d_model)))  # float32

    def forward(self, tokens):
        hot = F.one_hot(tokens, num_classes=self.vocab_size).to(self.to_vector.weight.dtype)
        return self.to_vector(hot).mul(self.scale)
