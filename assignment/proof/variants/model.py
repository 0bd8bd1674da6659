"""Encoder, decoder and Transformer with other parts."""

import copy

import torch
from torch import nn

from .embedding import InputEmbedding, PositionalEncoding
from .layers import DecoderLayer, EncoderLayer, LayerNorm
from .model import Decoder, Encoder

# %% clones
# Layers are deep copies of one; the last LayerNorm is always there.


def clones(module, n):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(n)])


class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        super(Encoder, self).__init__()  # noqa: UP008
        self.layers = clones(EncoderLayer(d_model, n_heads, d_ff, dropout, norm_first), n_layers)
        self.norm, self.norm_first = LayerNorm(d_model), norm_first

    def forward(self, x, mask):
        attns = []
        for layer in self.layers:
            x, attn = layer(x, mask)
            attns += [attn]
        return self.norm(x) if self.norm_first else x, attns


# %% named_layers
# Layers are attributes with numbered names; the model itself applies dropout to positions, and ties its projection.


class Decoder(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        super().__init__()
        self.n_layers = n_layers
        for i in range(n_layers):
            setattr(self, f"layer{i}", DecoderLayer(d_model, n_heads, d_ff, dropout=dropout, norm_first=norm_first))
        if norm_first:
            self.final = LayerNorm(d_model)

    def forward(self, x, memory, src_mask, tgt_mask):
        own, cross = [None] * self.n_layers, [None] * self.n_layers
        for i in range(self.n_layers):
            x, own[i], cross[i] = getattr(self, f"layer{i}")(x, memory, src_mask, tgt_mask)
        if hasattr(self, "final"):
            x = self.final(x)
        return x, own, cross


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        super().__init__()
        self.config = (d_model, n_heads, d_ff, n_layers, dropout, norm_first)
        self.encoder, self.decoder = Encoder(*self.config), Decoder(*self.config)
        self.embed_src = InputEmbedding(src_vocab_size, d_model)
        self.embed_tgt = InputEmbedding(tgt_vocab_size, d_model)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size, bias=False)
        self.output_projection.weight = self.embed_tgt.table.weight
        self.place = PositionalEncoding(d_model, 0.0)
        self.dropout = nn.Dropout(dropout)

    def encode(self, src, encoder_mask):
        return self.encoder(self.dropout(self.place(self.embed_src(src))), encoder_mask)

    def decode(self, tgt, memory, src_mask, tgt_mask):
        return self.decoder(self.dropout(self.place(self.embed_tgt(tgt))), memory, src_mask, tgt_mask)

    def get_predictions(self, output):
        logits = self.output_projection(output)
        return logits - torch.logsumexp(logits, dim=-1, keepdim=True)
