"""A trip-wire: PyTorch's own layer norms and attentions raise in a worker, under whatever name they are reached.

The kernels are replaced in the dispatcher, where every alias, `torch.ops` and compiled code end up; what is written in
Python is stopped in its code object. The stand-ins use none of it. A submission that knows of this can undo it, or copy
PyTorch's source: the static check and a reader's eye stand beside it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from types import FunctionType

import torch
from torch import nn

FORBIDDEN = re.compile(
    r"_?(\w+_)?((batch|instance|group|layer|rms)_norm|attention)(_\w+)?|_transformer_encoder_layer_fwd"
)
KERNELS = tuple(
    name
    for name in sorted(full.removeprefix("aten::") for full in torch._C._dispatch_get_all_op_names())
    if FORBIDDEN.fullmatch(name.partition(".")[0]) and "backward" not in name
)
"""All that this PyTorch has of these kinds, overloads too: "native_layer_norm", "_native_batch_norm_legit.no_stats"."""
KEYS = (
    "CPU",
    "AutogradCPU",
    "NestedTensorCPU",
    "AutogradNestedTensor",
    "MkldnnCPU",
    "QuantizedCPU",
    "AutogradOther",
)
"""The kinds of tensors that a worker can make."""
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


def prepare() -> Callable[[], None]:
    """Returns what replaces them all, for the rest of this process.

    Asked for before any submitted code runs: what that writes into this module then changes nothing.
    """
    kernels = [(name, key, refusal(name.partition(".")[0])) for name in KERNELS for key in KEYS]
    classes = [(kind, refusal(kind.__name__)) for kind in CLASSES]
    library = torch.library.Library("aten", "IMPL")
    _KEPT.append(library)  # a library that is let go takes its kernels along
    function = nn.functional.multi_head_attention_forward
    override, halt, refuse_function = library.impl, stop, refusal(function.__name__)

    def forbid() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that kernels are overridden
            for name, key, refuse in kernels:
                override(name, refuse, key, allow_override=True)
        for kind, refuse in classes:
            kind.__init__ = kind.forward = refuse
        halt(function, refuse_function)

    return forbid


def refusal(name: str) -> FunctionType:
    """A function that takes anything and raises."""

    def refuse(*arguments: object, **options: object) -> None:
        raise ForbiddenShortcut(f"PyTorch's own {name.removeprefix('_')} is not to be used in this assignment")

    return refuse


def stop(function: FunctionType, by: FunctionType) -> None:
    """Make a function raise, `by` another one, for whoever holds it, under whatever name."""

    def refuse(*arguments, refuse_by, **options):
        refuse_by()

    function.__code__, function.__defaults__ = refuse.__code__, None
    function.__kwdefaults__ = {"refuse_by": by}


_KEPT: list[torch.library.Library] = []
