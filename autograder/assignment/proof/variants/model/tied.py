"""The output projection is tied to the target embedding; one positional encoding for both sides."""

from torch import nn

from .embedding import InputEmbedding, PositionalEncoding
from .model import Decoder, Encoder


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
