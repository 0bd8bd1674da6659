"""The arguments of a call: the copies that a submission gets, and whether it leaves them alone, in words.

A component that writes into its arguments fails one test (`side_effects.py`). In all others it is judged as if it had
left them alone.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor

from ..sandbox.worker.running import has_changed, keep, undisturbed
from .case import Inputs
from .experiments import attempted
from .fitting import CALL_FAILED
from .results import INPUTS, OBSERVED, CheckFailed, UnreadableError

quotes: dict[str, Callable[[int], str]] = {}
"""For the files of submissions in this process: from a line's number to its place and the line, "" for others' code."""

NUMBER = re.compile(r"(?<![\w.])(?<!dim )(?<!dimension )\d+|(?<=x)\d+")
"""A number in an error message of PyTorch's that may be a size."""
SIZES = re.compile("size|shape|dimension|broadcast", re.I)
"""Words of a message about sizes."""
MOST_SHOWN = 6
"""So many numbers of an input stand in a message."""
MIXED = (
    "All inputs and parameters of this test are float64, but something here is float32: a tensor that is made without "
    "dtype=, or a parameter that is not registered as a part of the module?"
)
CONVERTED = "The arguments have one dtype: does a step convert to another, or make a tensor without dtype=?"
STATE = "a call must not depend on earlier ones or on chance (dropout): keep nothing on self, in globals or in defaults"


def copy_of(value: Tensor | None, with_gradients: bool = False, is_plain: bool = True) -> Tensor | None:
    """Copy an argument for the submission; a plain copy is contiguous."""
    if value is None:
        return None
    copy = value.detach().clone(memory_format=torch.contiguous_format)
    if not is_plain:
        order = [*reversed(range(value.dim()))]
        copy = copy.permute(order).contiguous().permute(order)
    return copy.requires_grad_(with_gradients and value.is_floating_point())


def copies_of(values: Iterable[Tensor | None]) -> list[Tensor | None]:
    """Copies to call a submission with, which may change them."""
    return [copy_of(value) for value in values]


def call_with_copies(function: Callable[..., Any], arguments: Sequence[Tensor | None]) -> Any:
    """Return the result of a function; where it writes into its arguments, as if it had left them alone.

    That it writes there is for `expect_no_side_effects` to find. A worker itself makes such a call again.
    """
    handed = clones_of(arguments)
    before = keep(argument for argument in handed if argument is not None)
    result = function(*handed)
    if torch.is_grad_enabled() and any(has_changed(*kept) and not hasattr(kept[0], "is_spoiled") for kept in before):
        with undisturbed():
            result = function(*clones_of(arguments))
    return result


def clones_of(arguments: Iterable[Tensor | None]) -> list[Tensor | None]:
    """Copies through which gradients reach the arguments."""
    return [None if argument is None else argument.clone() for argument in arguments]


@contextmanager
def explained(inputs: Inputs, inside: Callable[[Inputs], str] | None = None) -> Iterator[None]:
    """A block that calls a component: an error of it gets the inputs, and perhaps what its parts show."""
    try:
        yield
    except (CheckFailed, UnreadableError, NotImplementedError):
        raise
    except Exception as error:
        explain(error, inputs, inside)
        raise


def explain(
    error: Exception, inputs: Inputs, inside: Callable[[Inputs], str] | None = None, mixed: str = MIXED
) -> None:
    """Adds to an error of a call what its inputs, and perhaps its parts, show."""
    if is_of_dtypes(error):
        error.add_note(mixed)
    error.add_note("\n".join(about_sizes(str(error), inputs)))
    is_of_code = isinstance(error, (*CALL_FAILED, AttributeError))  # after a time limit there is no time left
    if inside and is_of_code and (text := attempted(partial(inside, inputs))):
        error.add_note(f"{OBSERVED}{text}")


def is_of_dtypes(error: Exception) -> bool:
    """Return True of an error of PyTorch's about float32 beside float64."""
    text = str(error).lower()
    return "double" in text and "float" in text


def describe(name: str, value: Tensor | None) -> str:
    """An argument in words: its shape, and its dtype and layout where they are unusual."""
    if value is None:
        return f"{name} None"
    dtype = "" if value.dtype in (torch.float64, torch.int64, torch.bool) else f" {value.dtype}".replace("torch.", "")
    gaps = "" if value.is_contiguous() else " not contiguous"
    is_small = value.dtype != torch.bool and value.numel() <= MOST_SHOWN
    small = f" = {[round(number, 3) for number in value.detach().double().flatten().tolist()]}" if is_small else ""
    return f"{name} {tuple(value.shape)}{dtype}{gaps}{small}"


def traits_of(inputs: Inputs, module: object) -> Iterator[str]:
    """Yield the traits that a call of a module, or a function, may share with others, in words: see `contrast`."""
    if isinstance(is_training := getattr(module, "training", None), bool):
        yield "in train mode" if is_training else "in eval mode"
    for name, value in inputs.items():
        if "mask" in name:
            yield f"{'without' if value is None else 'with'} {'a mask' if name == 'mask' else name}"
        if value is None:
            continue
        if value.dtype == torch.bool:
            yield f"with a mask of {value.dim()} axes"
            if bool((~value).all(-1).any()):
                yield "with a query that may attend to no key"
            if value.dim() == 4 and value.size(1) > 1:
                yield "with a mask for each head"
        else:
            yield from (f"where axis {axis} of {name} has size 1" for axis, size in enumerate(value.shape) if size == 1)


def sizes_of(inputs: Inputs, with_features: bool = False) -> dict[str, int]:
    """The sizes of the arguments but masks, by axis; features depend on the settings of a component."""
    tensors = {name: value for name, value in inputs.items() if value is not None and value.dtype != torch.bool}
    return {
        f"axis {axis} of {name}": size
        for name, value in tensors.items()
        for axis, size in enumerate(value.shape)
        if with_features or axis < value.dim() - value.is_floating_point()
    }


def about_sizes(error: str, inputs: Inputs) -> Iterator[str]:
    """The arguments of a call that ended with an error, and which axes have the sizes that its message names."""
    yield INPUTS + ", ".join(describe(name, value) for name, value in inputs.items())
    places: dict[int, list[str]] = {}
    for axis, size in sizes_of(inputs, with_features=True).items():
        places.setdefault(size, []).append(axis)
    numbers = dict.fromkeys(int(number) for number in NUMBER.findall(error)) if SIZES.search(error) else ()
    if named := [f"{size} is {', '.join(places[size][:3])}" for size in numbers if size > 1 and size in places]:
        yield f"  sizes:    {'; '.join(named)}"
