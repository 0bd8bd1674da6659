"""The decoder layer inherits from the encoder layer and adds cross-attention; a dropout for each sublayer."""

from torch import nn

from .attention import MultiHeadedAttention
from .layers import EncoderLayer, LayerNorm


class DecoderLayer(EncoderLayer):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__(d_model, n_heads, d_ff, dropout, norm_first)
        self.cross_attention = MultiHeadedAttention(d_model, n_heads)
        self.cross_norm = LayerNorm(d_model)
        self.drops = nn.ModuleList([nn.Dropout(dropout) for _ in range(3)])

    def forward(self, x, memory, src_mask, tgt_mask):
        if self.norm_first:
            y = self.attention_norm(x)
            y, own = self.attention(y, y, y, tgt_mask)
            x = x + self.drops[0](y)
            y, cross = self.cross_attention(self.cross_norm(x), memory, memory, src_mask)
            x = x + self.drops[1](y)
            return x + self.drops[2](self.feed_forward(self.feed_forward_norm(x))), own, cross
        y, own = self.attention(x, x, x, tgt_mask)
        x = self.attention_norm(x + self.drops[0](y))
        y, cross = self.cross_attention(x, memory, memory, src_mask)
        x = self.cross_norm(x + self.drops[1](y))
        return self.feed_forward_norm(x + self.drops[2](self.feed_forward(x))), own, cross
