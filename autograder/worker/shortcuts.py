"""A trip-wire: PyTorch's own layer norms and attentions raise in a worker, under whatever name they are reached.

The kernels are replaced in the dispatcher, where every alias, `torch.ops` and compiled code end up; what is written in
Python is stopped in its code object. The stand-ins use none of it. A submission that knows of this can undo it, or copy
PyTorch's source: the static check and a reader's eye stand beside it.
"""

from __future__ import annotations

import warnings
from types import FunctionType

import torch
from torch import nn

KERNELS = (
    "layer_norm",
    "native_layer_norm",
    "group_norm",
    "native_group_norm",
    "instance_norm",
    "rms_norm",
    "_fused_rms_norm",
    "batch_norm",
    "native_batch_norm",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit.no_stats",
    "_batch_norm_impl_index",
    "scaled_dot_product_attention",
    "_scaled_dot_product_attention_math",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_native_multi_head_attention",
    "_transformer_encoder_layer_fwd",
)
CLASSES = (
    nn.MultiheadAttention,
    nn.Transformer,
    nn.TransformerEncoder,
    nn.TransformerEncoderLayer,
    nn.TransformerDecoder,
    nn.TransformerDecoderLayer,
)
"""Written in Python, in part with plain operations."""


class ForbiddenShortcut(RuntimeError):
    """A submission used what it was to write itself."""


def forbid() -> None:
    """Replace them all, for the rest of this process."""
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that kernels are overridden
        for name in KERNELS:
            for key in ("CPU", "AutogradCPU"):
                library.impl(name, refusal(name.partition(".")[0]), key, allow_override=True)
    _KEPT.append(library)  # a library that is let go takes its kernels along
    for kind in CLASSES:
        kind.__init__ = kind.forward = refusal(kind.__name__)
    stop(nn.functional.multi_head_attention_forward)


def refusal(name: str) -> FunctionType:
    """A function that takes anything and raises."""

    def refuse(*arguments: object, **options: object) -> None:
        raise ForbiddenShortcut(f"PyTorch's own {name.removeprefix('_')} is not to be used in this assignment")

    return refuse


def stop(function: FunctionType) -> None:
    """Make a function raise for whoever holds it, under whatever name."""

    def refuse(*arguments, refuse_by, **options):
        refuse_by()

    function.__code__, function.__defaults__ = refuse.__code__, None
    function.__kwdefaults__ = {"refuse_by": refusal(function.__name__)}


_KEPT: list[torch.library.Library] = []
