"""Embeddings in other words and layouts."""

import math

import torch
from torch import nn

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
