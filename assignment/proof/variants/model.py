"""Encoder, decoder and Transformer with other parts."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

from .embedding import InputEmbedding, PositionalEncoding
from .layers import DecoderLayer, EncoderLayer, LayerNorm
from .model import Decoder, Encoder

# %% clones
# Layers are deep copies of one, the last LayerNorm is always there; a module predicts; Xavier values at the end.


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


# %% named_layers
# Layers are attributes with numbered names; dropout on positions is applied by the model itself.


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


# %% tied
# The output projection is tied to the target embedding; one positional encoding for both sides.


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        super().__init__()
        self.tgt_embedding = InputEmbedding(tgt_vocab_size, d_model)
        self.src_embedding = InputEmbedding(src_vocab_size, d_model)
        self.positions = PositionalEncoding(d_model, dropout=dropout, max_length=1000)
        self.decoder = Decoder(d_model, n_heads, d_ff, n_layers, dropout, norm_first)
        self.encoder = Encoder(d_model, n_heads, d_ff, n_layers, dropout, norm_first)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        self.output_projection.weight = self.tgt_embedding.table.weight

    def encode(self, src, encoder_mask):
        memory, weights = self.encoder(self.positions(self.src_embedding(src)), mask=encoder_mask)
        return memory, weights

    def decode(self, tgt, memory, src_mask, tgt_mask):
        x = self.positions(self.tgt_embedding(tgt))
        return self.decoder(x, memory=memory, src_mask=src_mask, tgt_mask=tgt_mask)

    def get_predictions(self, output):
        return self.output_projection(output).log_softmax(dim=-1)


# %% tied_functional
# Predictions by F.linear with the target embedding's bare parameter, without a projection; keyword arguments.


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm_first=False):
        super().__init__()
        sizes = dict(n_heads=n_heads, d_ff=d_ff, n_layers=n_layers, dropout=dropout, norm_first=norm_first)
        self.parts = nn.ModuleDict(
            {
                "encoder": Encoder(d_model, **sizes),
                "decoder": Decoder(d_model=d_model, **sizes),
                "src": InputEmbedding(vocab_size=src_vocab_size, d_model=d_model),
                "tgt": InputEmbedding(vocab_size=tgt_vocab_size, d_model=d_model),
                "pos": PositionalEncoding(d_model=d_model, dropout=dropout),
            }
        )

    def encode(self, src, encoder_mask):
        assert src.dtype == torch.long
        return self.parts["encoder"](self.parts["pos"](self.parts["src"](src)), encoder_mask)

    def decode(self, tgt, memory, src_mask, tgt_mask):
        return self.parts["decoder"](self.parts["pos"](self.parts["tgt"](tgt)), memory, src_mask, tgt_mask)

    def get_predictions(self, output):
        return F.log_softmax(F.linear(output, self.parts["tgt"].E), dim=2)
