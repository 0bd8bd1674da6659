"""The feed-forward network is written out in the layers, as two linear maps of the layer itself."""

from torch import nn

from .attention import MultiHeadedAttention
from .layers import LayerNorm


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.attention = MultiHeadedAttention(d_model, n_heads)
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, mask):
        if self.norm_first:
            y = self.norm1(x)
            y, weights = self.attention(y, y, y, mask)
            x = x + self.dropout(y)
            return x + self.dropout(self.fc2(self.fc1(self.norm2(x)).relu())), weights
        y, weights = self.attention(x, x, x, mask)
        x = self.norm1(x + self.dropout(y))
        return self.norm2(x + self.dropout(self.fc2(self.fc1(x).relu()))), weights


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.net = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.self_attention = MultiHeadedAttention(d_model, n_heads)
        self.cross_attention = MultiHeadedAttention(d_model, n_heads)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, memory, src_mask, tgt_mask):
        if self.norm_first:
            y = self.norm1(x)
            y, own = self.self_attention(y, y, y, tgt_mask)
            x = x + self.dropout(y)
            y, cross = self.cross_attention(self.norm2(x), memory, memory, src_mask)
            x = x + self.dropout(y)
            return x + self.dropout(self.net(self.norm3(x))), own, cross
        y, own = self.self_attention(x, x, x, tgt_mask)
        x = self.norm1(x + self.dropout(y))
        y, cross = self.cross_attention(x, memory, memory, src_mask)
        x = self.norm2(x + self.dropout(y))
        return self.norm3(x + self.dropout(self.net(x))), own, cross
