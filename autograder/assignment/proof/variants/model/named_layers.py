"""Layers are attributes with numbered names; dropout on positions is applied by the model itself."""

import torch
from torch import nn

from .embedding import InputEmbedding, PositionalEncoding
from .layers import DecoderLayer, EncoderLayer, LayerNorm


class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        super().__init__()
        self.n_layers = n_layers
        if norm_first:
            self.final = LayerNorm(d_model)
        for i in range(n_layers):
            setattr(self, f"layer{i}", EncoderLayer(d_model, n_heads, d_ff, dropout=dropout, norm_first=norm_first))

    def forward(self, x, mask):
        weights = [None] * self.n_layers
        for i in range(self.n_layers):
            x, weights[i] = getattr(self, f"layer{i}")(x, mask)
        if hasattr(self, "final"):
            x = self.final(x)
        return x, weights


class Decoder(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        super().__init__()
        stack = []
        for _ in range(n_layers):
            stack.insert(0, DecoderLayer(d_model, n_heads, d_ff, dropout, norm_first=norm_first))
        self.stack = nn.Sequential(*stack)
        self.final = LayerNorm(d_model) if norm_first else None

    def forward(self, x, memory, src_mask, tgt_mask):
        collected = []
        for layer in self.stack:
            x, *weights = layer(x, memory, src_mask, tgt_mask)
            collected.append(weights)
        if self.final is not None:
            x = self.final(x)
        self_weights, cross_weights = zip(*collected, strict=True)
        return x, list(self_weights), list(cross_weights)


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        super().__init__()
        self.config = (d_model, n_heads, d_ff, n_layers, dropout, norm_first)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size, bias=False)
        self.encoder, self.decoder = Encoder(*self.config), Decoder(*self.config)
        self.embed_src, self.embed_tgt = (
            InputEmbedding(src_vocab_size, d_model),
            InputEmbedding(tgt_vocab_size, d_model),
        )
        self.place = PositionalEncoding(d_model, 0.0)
        self.dropout = nn.Dropout(dropout)

    def encode(self, src, encoder_mask):
        return self.encoder(self.dropout(self.place(self.embed_src(src))), encoder_mask)

    def decode(self, tgt, memory, src_mask, tgt_mask):
        return self.decoder(self.dropout(self.place(self.embed_tgt(tgt))), memory, src_mask, tgt_mask)

    def get_predictions(self, output):
        logits = self.output_projection(output)
        return logits - torch.logsumexp(logits, dim=-1, keepdim=True)
