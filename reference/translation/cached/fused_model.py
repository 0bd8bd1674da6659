"""The reference's model rearranged for decoding: joined projections, and the fastest matrix product that PyTorch has.

Nothing here is trained and dropout is left out, so the values are those of the model in eval mode, but for rounding.
The module reaches into the reference's layers. Students do not get it, because their layers may look different.

Shapes: n sentences · s source length · r rows of any kind · h heads · d = d_model · d_head = d / h.
"""

import math
import platform
from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...attention import MultiHeadedAttention
from ...layers import DecoderLayer, EncoderLayer, LayerNorm
from ...model import Transformer

FEWEST_ROWS = 32  # with fewer, the way into oneDNN takes longer than it saves


def has_onednn() -> bool:
    """Whether PyTorch has its entry to oneDNN for matrix products of ordinary tensors."""
    return platform.machine() in ("x86_64", "AMD64") and hasattr(torch.ops.mkldnn, "_linear_pointwise")


class Affine:
    """y = x W^T + b, also with a ReLU or a residual connection behind it.

    `functional.linear` calls MKL, which uses only half of the vector unit of a processor that is not Intel's: 115
    instead of 260 billion operations a second on the EPYC where this was measured. oneDNN uses all of it. PyTorch has
    it, but under a private name; where that is missing, or rows are few, MKL does the work.
    """

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        """Takes W (outputs, inputs) and b (outputs)."""
        self.weight, self.bias, self.packed = weight.contiguous(), bias, None
        if weight.device.type == "cpu" and weight.dtype == torch.float32 and has_onednn():
            self.packed = torch.ops.mkldnn._reorder_linear_weight(self.weight)

    def __call__(self, x: Tensor, relu: bool = False) -> Tensor:
        """Maps x (r, inputs) to (r, outputs)."""
        if self.packed is not None and len(x) >= FEWEST_ROWS:
            fused = torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "relu" if relu else "none", [], "")
            return cast("Tensor", fused)
        y = functional.linear(x, self.weight, self.bias)
        return y.relu_() if relu else y

    def plus(self, x: Tensor, residual: Tensor) -> Tensor:
        """Maps x likewise and adds a residual (r, outputs)."""
        if self.packed is not None and len(x) >= FEWEST_ROWS:
            fused = torch.ops.mkldnn._linear_pointwise.binary(x, residual, self.packed, self.bias, "add")
            return cast("Tensor", fused)
        return functional.linear(x, self.weight, self.bias).add_(residual)


def join_projections(attention: MultiHeadedAttention, names: str) -> Affine:
    """Makes one map of the projections that read the same input; queries are scaled by 1 / sqrt(d_head) there.

    Args:
        attention: of the model.
        names: such as "query key value".
    """
    weights, biases = [], []
    for name in names.split():
        projection: nn.Linear = getattr(attention, f"project_{name}")
        scale = (projection.out_features // attention.n_heads) ** -0.5 if name == "query" else 1.0
        weights.append(projection.weight * scale)
        biases.append(projection.bias * scale)
    return Affine(torch.cat(weights), torch.cat(biases))


class Ending:
    """What each sublayer ends with: an affine map, the residual connection, and LayerNorm, which may come first."""

    def __init__(self, last: nn.Linear, norm: LayerNorm, norm_first: bool) -> None:
        """Takes the parts of the model's sublayer."""
        self.last, self.norm, self.norm_first = Affine(last.weight, last.bias), norm, norm_first

    def __call__(self, x: Tensor, beginning: Callable[[Tensor], Tensor]) -> Tensor:
        """Applies the whole sublayer to x (r, d)."""
        if self.norm_first:
            return self.last.plus(beginning(normalise(x, self.norm)), x)
        return normalise(self.last.plus(beginning(x), x), self.norm)


class FusedLayer:
    """The parts that encoder and decoder layers have in common."""

    def __init__(self, layer: EncoderLayer | DecoderLayer, attention: MultiHeadedAttention, norm: LayerNorm) -> None:
        """Rearranges self-attention and feed-forward."""
        self.n_heads = attention.n_heads
        self.query_key_value = join_projections(attention, "query key value")
        self.self_attention = Ending(attention.project_output, norm, layer.norm_first)
        self._expand = Affine(layer.feed_forward.expand.weight, layer.feed_forward.expand.bias)
        self._feed_forward = Ending(layer.feed_forward.contract, layer.feed_forward_norm, layer.norm_first)

    def feed_forward(self, x: Tensor) -> Tensor:
        """Applies the feed-forward sublayer to x (r, d)."""
        return self._feed_forward(x, lambda x: self._expand(x, relu=True))


class FusedDecoderLayer(FusedLayer):
    """A decoder layer; the projections of cross-attention stay apart, since their inputs do."""

    def __init__(self, layer: DecoderLayer) -> None:
        """Rearranges the layer."""
        super().__init__(layer, layer.self_attention, layer.self_attention_norm)
        cross = layer.cross_attention
        self.query, self.key, self.value = (join_projections(cross, name) for name in ("query", "key", "value"))
        self.cross_attention = Ending(cross.project_output, layer.cross_attention_norm, layer.norm_first)


class FusedModel:
    """The weights of a `Transformer`, as they are now, rearranged."""

    @torch.inference_mode()
    def __init__(self, model: Transformer) -> None:
        """Rearranges the weights; this takes about a millisecond.

        Raises:
            AttributeError: if a layer lacks a part that the reference's has.
        """
        self.model = model
        encoder_layers = cast("list[EncoderLayer]", model.encoder.layers)
        self.encoder_layers = [FusedLayer(layer, layer.attention, layer.attention_norm) for layer in encoder_layers]
        self.decoder_layers = [FusedDecoderLayer(cast("DecoderLayer", layer)) for layer in model.decoder.layers]
        self.output_projection = Affine(model.output_projection.weight, model.output_projection.bias)
        self.targets = model.tgt_embedding.table.weight * math.sqrt(model.tgt_embedding.d_model)
        self.target_positions = model.tgt_positions.code

    def encode(self, src: Tensor, mask: Tensor) -> Tensor:
        """Computes the memory (n, s, d), the first result of `model.encode`, from src (n, s) and its mask."""
        open_mask = None if mask.all() else open_empty_rows(mask)
        x = self.model.src_embedding(src) + self.model.src_positions.code[: src.size(1)]
        n, s, d = x.shape
        x = x.flatten(0, 1)
        for layer in self.encoder_layers:

            def attend(x: Tensor, layer: FusedLayer = layer) -> Tensor:
                parts = layer.query_key_value(x).view(n, s, 3, layer.n_heads, -1)
                query, key, value = parts.permute(2, 0, 3, 1, 4)  # each (n, h, s, d_head)
                context = functional.scaled_dot_product_attention(query, key, value, open_mask, scale=1.0)
                return context.transpose(1, 2).reshape(n * s, d)

            x = layer.feed_forward(layer.self_attention(x, attend))
        if self.model.encoder.norm_first:
            x = normalise(x, self.model.encoder.last_norm)
        return x.view(n, s, d)


def open_empty_rows(mask: Tensor) -> Tensor:
    """Lets queries that may attend to nothing attend to everything; the fused function would return NaN."""
    return mask | ~mask.any(dim=-1, keepdim=True)


def normalise(x: Tensor, norm: LayerNorm) -> Tensor:
    """Computes the same as `norm`, with PyTorch's fused function."""
    return functional.layer_norm(x, x.shape[-1:], norm.gamma, norm.beta, norm.epsilon)
