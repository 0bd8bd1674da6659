"""Layers are deep copies of one; a separate module makes predictions; parameters are initialised again at the end."""

import copy

import torch.nn.functional as F
from torch import nn

from .embedding import InputEmbedding, PositionalEncoding
from .layers import DecoderLayer, EncoderLayer, LayerNorm


def clones(module, n):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(n)])


class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        super(Encoder, self).__init__()  # noqa: UP008
        self.layers = clones(EncoderLayer(d_model, n_heads, d_ff, dropout, norm_first), n_layers)
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, x, mask):
        attns = []
        for layer in self.layers:
            x, attn = layer(x, mask)
            attns += [attn]
        return self.norm(x), attns


class Decoder(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        super(Decoder, self).__init__()  # noqa: UP008
        self.layers = clones(DecoderLayer(d_model, n_heads, d_ff, dropout, norm_first), n_layers)
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, x, memory, src_mask, tgt_mask):
        first, second = [], []
        for layer in self.layers:
            x, a, b = layer(x, memory, src_mask, tgt_mask)
            first.append(a)
            second.append(b)
        return self.norm(x), first, second


class Generator(nn.Module):
    def __init__(self, d_model, vocab):
        super().__init__()
        self.proj = nn.Linear(d_model, vocab)

    def forward(self, x):
        return F.log_softmax(self.proj(x), dim=-1)


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        super(Transformer, self).__init__()  # noqa: UP008
        position = PositionalEncoding(d_model, dropout)
        self.src_embed = nn.Sequential(InputEmbedding(src_vocab_size, d_model), copy.deepcopy(position))
        self.tgt_embed = nn.Sequential(InputEmbedding(tgt_vocab_size, d_model), copy.deepcopy(position))
        self.encoder = Encoder(d_model, n_heads, d_ff, n_layers, dropout, norm_first)
        self.decoder = Decoder(d_model, n_heads, d_ff, n_layers, dropout, norm_first)
        self.generator = Generator(d_model, tgt_vocab_size)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    def encode(self, src, encoder_mask):
        return self.encoder(self.src_embed(src), encoder_mask)

    def decode(self, tgt, memory, src_mask, tgt_mask):
        return self.decoder(self.tgt_embed(tgt), memory, src_mask, tgt_mask)

    def get_predictions(self, output):
        return self.generator(output)
