"""The reference's layers, computed otherwise: faster, in lower precision, or with dropout in two more places.

The parameters and their names stay. Like `cached_model.py` this relies on how the reference's layers are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..package import Package

LEVELS = 256  # values of a random byte


class FusedLayerNorm(nn.Module):
    """`LayerNorm` as one function, in place of seven."""

    gamma: Tensor
    beta: Tensor
    epsilon: float

    def forward(self, x: Tensor) -> Tensor:
        """Normalises each vector of x (..., d)."""
        return functional.layer_norm(x, x.shape[-1:], self.gamma, self.beta, self.epsilon)


class ByteDropout(nn.Dropout):
    """Dropout, on the CPU, whose share is rounded to 256ths, so that one random byte decides on a feature."""

    def forward(self, x: Tensor) -> Tensor:
        """Drops features of x (any shape) in training, and scales up the others."""
        n_dropped = round(self.p * LEVELS)
        if not self.training or not 0 < n_dropped < LEVELS or x.device.type != "cpu":
            return super().forward(x)
        words = torch.empty(x.numel() // 8 + 1, dtype=torch.int64).random_(-(2**63), None)  # all 64 bits
        keep = (words.view(torch.uint8)[: x.numel()] >= n_dropped).view(x.shape)
        return x * keep * (LEVELS / (LEVELS - n_dropped))


class DroppingAttention(nn.Module):
    """`MultiHeadedAttention` that drops weights, after the softmax."""

    project_query: nn.Linear
    project_key: nn.Linear
    project_value: nn.Linear
    project_output: nn.Linear
    n_heads: int
    package: Package
    share: float

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Does what `MultiHeadedAttention` does; the weights that it returns are complete."""
        projections = (self.project_query, query), (self.project_key, key), (self.project_value, value)
        q, k, v = (project(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for project, x in projections)
        context, weights = self.package.attention.scaled_dot_product_attention(q, k, v, mask)
        if self.training:
            context = functional.dropout(weights, self.share) @ v
        return self.project_output(context.transpose(1, 2).flatten(2)), weights


def fuse_layers(model: nn.Module, package: Package) -> None:
    """Lets a model compute faster: LayerNorm, dropout, and in training scores that only the criterion normalises.

    These are the forbidden short-cuts of the assignment, and a way of drawing random numbers.
    """

    class Unnormalised(type(model)):  # type: ignore[misc]  # whatever class the model has
        def get_predictions(self, output: Tensor) -> Tensor:
            return self.output_projection(output) if self.training else super().get_predictions(output)

    for module in model.modules():
        part: Any = module
        if isinstance(module, package.layers.LayerNorm):
            part.__class__ = FusedLayerNorm
        elif type(module) is nn.Dropout:
            part.__class__ = ByteDropout
    model.__class__ = Unnormalised


def add_inner_dropout(model: nn.Module, package: Package, share: float) -> None:
    """Adds dropout, of this share, to the attention weights and inside the feed-forward networks of a model.

    Vaswani et al. 2017, section 5.4, apply dropout only to the output of each sublayer and to the embeddings; some
    implementations have these two places, too. In eval mode nothing changes.
    """
    for module in model.modules():
        part: Any = module
        if isinstance(module, package.attention.MultiHeadedAttention):
            part.__class__, part.package, part.share = DroppingAttention, package, share
        elif isinstance(module, package.layers.FeedForward):  # before the nonlinearity, which is the same as after it
            part.expand.register_forward_hook(lambda linear, _, x: functional.dropout(x, share, linear.training))


@contextmanager
def computing_in(precision: str, device: torch.device | str) -> Iterator[None]:
    """Computes in a precision for the length of a with-block, where that is faster on the model's device.

    float32        as PyTorch does it
    fast-float32   matrix products may round their factors: to TF32 or bfloat16 on a GPU, to bfloat16 on a processor
                   that has matrix instructions for it. On other processors PyTorch takes oneDNN in place of MKL, and
                   nothing is rounded: with AVX-512 from AMD that is twice as fast (`python -m benchmarks speed`).
    bf16           matrix products and what follows them in bfloat16, weights and sums in float32 (after
                   Micikevicius et al. 2018, who use float16)
    """
    if precision == "bf16":
        # The cache of rounded weights would outlive the step that changes them.
        with torch.autocast(torch.device(device).type, torch.bfloat16, cache_enabled=False):
            yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium" if precision == "fast-float32" else before)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
