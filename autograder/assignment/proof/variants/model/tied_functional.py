"""Predictions by F.linear with the target embedding's bare parameter, without a projection; keyword arguments."""

import torch
import torch.nn.functional as F
from torch import nn

from .embedding import InputEmbedding, PositionalEncoding
from .model import Decoder, Encoder


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
