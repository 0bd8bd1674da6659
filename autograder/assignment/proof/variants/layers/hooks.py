"""A forward hook checks what goes in and comes out; parts stand in an nn.ModuleDict."""

from torch import nn

from .attention import MultiHeadedAttention
from .layers import FeedForward, LayerNorm


def check_shape(module, inputs, output):
    if output[0].shape != inputs[0].shape:
        raise RuntimeError("the layer has changed the shape")


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.parts = nn.ModuleDict(
            {"attention": MultiHeadedAttention(d_model, n_heads), "network": FeedForward(d_model, d_ff)}
        )
        self.norms = nn.ModuleDict({name: LayerNorm(d_model) for name in self.parts})
        self.dropouts = nn.ModuleDict({name: nn.Dropout(dropout) for name in self.parts})
        self.register_forward_hook(check_shape)

    def forward(self, x, mask):
        weights = None
        for name, part in self.parts.items():
            given = self.norms[name](x) if self.norm_first else x
            if name == "attention":
                changed, weights = part(given, given, given, mask)
            else:
                changed = part(given)
            x = x + self.dropouts[name](changed)
            x = x if self.norm_first else self.norms[name](x)
        return x, weights
