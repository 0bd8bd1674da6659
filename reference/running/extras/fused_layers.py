"""The reference's layers, computed faster: same parameters under the same names, same results up to rounding.

LayerNorm             PyTorch's own function, in place of seven
dropout               on the CPU from random bytes, in place of one random number for each feature
Transformer           in training, scores that are not normalised; the criterion normalises them anyway

The forbidden shortcuts of the assignment, in other words, and a way of drawing. Like `translation/cached/`, this module
relies on how the layers are written.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...layers import LayerNorm
from ...model import Transformer

LEVELS = 256  # values of a random byte


class FusedLayerNorm(LayerNorm):
    """`LayerNorm` as one function."""

    def forward(self, x: Tensor) -> Tensor:
        """Normalises each vector of x (..., d)."""
        return functional.layer_norm(x, x.shape[-1:], self.gamma, self.beta, self.epsilon)


class ByteDropout(nn.Dropout):
    """Dropout whose share is rounded to 256ths, so that one random byte decides on a feature."""

    def forward(self, x: Tensor) -> Tensor:
        """Drops features of x (any shape) in training, and scales up the others."""
        n_dropped = round(self.p * LEVELS)
        if not self.training or not 0 < n_dropped < LEVELS or x.device.type != "cpu":
            return super().forward(x)
        words = torch.empty(x.numel() // 8 + 1, dtype=torch.int64).random_(-(2**63), None)  # all 64 bits
        keep = (words.view(torch.uint8)[: x.numel()] >= n_dropped).view(x.shape)
        return x * keep * (LEVELS / (LEVELS - n_dropped))


class UnnormalisedTransformer(Transformer):
    """A model whose predictions are scores (logits) in training, and log-probabilities otherwise."""

    def get_predictions(self, output: Tensor) -> Tensor:
        """Computes them: (b, t, d) -> (b, t, tgt_vocab_size)."""
        return self.output_projection(output) if self.training else super().get_predictions(output)


FASTER: dict[type[nn.Module], type[nn.Module]] = {
    LayerNorm: FusedLayerNorm,
    nn.Dropout: ByteDropout,
    Transformer: UnnormalisedTransformer,
}


def fuse_layers(model: Transformer) -> None:
    """Lets a model that is made of the reference's layers compute faster; no parameter changes."""
    for module in model.modules():
        module.__class__ = FASTER.get(type(module), type(module))
