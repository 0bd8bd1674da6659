"""Modules of a submission, made for a test: with random parameters, and with what they may compute of these.

A module that cannot compute in float64 is judged in float32, in all tests but the one that is about dtypes.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from autograder.testing.arguments import explained, is_of_dtypes
from autograder.testing.case import Case, SubmissionUnderTest, default_dtype
from autograder.testing.comparison import CLOSE, NEGLIGIBLE, difference
from autograder.testing.fitting import CALL_FAILED, Computation, attempt, first_part, leaves_of
from autograder.testing.results import CheckFailed, UnreadableError
from autograder.testing.subject import Subject

from .search import ROUNDED, Component, Draw, Formula, find_formula, learned

ARGUMENTS = ("query", "key", "value", "mask")
COMPUTED = re.compile(r"(^|\.)parametrizations\.|_orig$")
"""Names of parameters from which PyTorch's parametrisations compute others; the old `weight_norm` has `_g` and `_v`."""

WAYS = 1 - 1e-6, 1.0, 1 + 1e-6
"""By so much arguments move, which shows the dtype that a module computes in."""

Search = Callable[[Iterable[Formula], Draw], Computation | None]
"""Search for one of some formulas in a component, wherever its parameters stand."""

_takes_float64: WeakKeyDictionary[object, dict[str, bool]] = WeakKeyDictionary()
"""For each submission, by component, whether float64 modules return float64 for float64 arguments."""


class InFloat32(nn.Module):
    """A module that gets its arguments in float32 and is in its mode, for code that cannot compute in float64."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module.train(module.training)
        self.training = module.training

    def forward(self, *given: Any, **named: Any) -> Any:
        """Call the module."""
        return self.module(*map(in_single, given), **{name: in_single(value) for name, value in named.items()})


def in_single(value: Any) -> Any:
    """A tensor of floats in float32, or those of a list; anything else as it is."""
    if isinstance(value, (list, tuple)):
        return [in_single(item) for item in value]
    return value.float() if isinstance(value, Tensor) and value.is_floating_point() else value


def made(
    submission: SubmissionUnderTest,
    case: Case,
    component: str,
    sizes: Sequence[int],
    parts: Sequence[str],
    read: Callable[[nn.Module, list[Tensor], Search], Iterable[Computation]],
    draw: Draw,
    *,
    dtype: torch.dtype = torch.float64,
    any_dtype: bool = True,
    called_before_with: Tensor | None = None,
    randomised: slice = slice(None),
    **options: Any,
) -> Subject:
    """Make a module of the submission in eval mode, with random parameters, from sizes and options.

    `read` finds what it may compute with these tensors for its parameters, by their shapes or by a search. It may be
    called before it gets its random parameters, as in training, of which some may stay as they were made. With
    `any_dtype`, one that cannot take float64 arguments, which `draw` draws, is judged in float32.
    """
    build = partial(submission.build, component, *sizes, **options)
    is_rough = not takes_float64(submission, component, build, draw)
    is_single = any_dtype and dtype == torch.float64 and is_rough
    module = build(dtype=torch.float32 if is_single else dtype).eval()
    if called_before_with is not None:
        with torch.inference_mode():
            module(*[called_before_with] * (3 if len(parts) > 1 else 1))
    call = InFloat32(module) if is_single else module
    case.randomise(list(module.parameters())[randomised])
    parameters = learned(module)
    leaves = leaves_of(parameters)

    def search(formulas: Iterable[Formula], draw_arguments: Draw) -> Computation | None:
        def twin() -> Component:
            other = build(dtype=torch.float64).eval()
            return Component(other, learned(other), draw_arguments, ROUNDED if is_rough else 1.0)

        arguments = draw_arguments(torch.Generator())
        names = ARGUMENTS if len(arguments) > 1 else ("x",)
        with torch.no_grad(), explained(dict(zip(names, arguments, strict=False))):  # usual numbers: its own fault
            call(*(x.to(dtype) if x is not None and x.is_floating_point() else x for x in arguments))
        return find_formula(submission, (component, *sizes, *options.items()), twin, leaves, formulas)

    def find() -> Sequence[Computation]:
        expect_plain(module)
        return [*read(module, leaves, search)]

    formulas = attempt(find)
    frozen = [p for p in module.parameters() if not p.requires_grad]
    if frozen and isinstance(formulas, CheckFailed):  # what is not learned is another item
        parameters = list(module.parameters())
        leaves = leaves_of(parameters)
        formulas = attempt(find)
    without = partial(submission.apply, "call_without_dropout", module, "forward")
    pairs = list(zip(parameters, leaves, strict=True))
    return Subject(call, parts, formulas, pairs, dtype, any_dtype=any_dtype, without_dropout=without)


def takes_float64(submission: object, component: str, build: Callable[..., nn.Module], draw: Draw) -> bool:
    """Return True unless a float64 module refuses float64 arguments for their dtype, or computes in another one.

    If a step rounds to float32, such as a softmax, what it returns moves in jumps as its arguments move a little.
    """
    known = _takes_float64.setdefault(submission, {})
    if component not in known:
        known[component] = True
        with suppress(*CALL_FAILED), torch.no_grad(), default_dtype(torch.float64):  # what else it refuses, tests find
            try:
                module, chance = build(dtype=torch.float64).eval(), torch.Generator()
                for parameter in module.parameters():
                    parameter.copy_(torch.randn(parameter.shape, generator=chance, dtype=torch.float64) / 2)
                given = draw(chance)
                moved = [[x * way if x is not None and x.is_floating_point() else x for x in given] for way in WAYS]
                before, now, after = (first_part(module(*arguments), ("", "")) for arguments in moved)
                if isinstance(now, Tensor):
                    jump = difference((before + after) / 2, now)
                    known[component] = now.dtype == torch.float64 and not NEGLIGIBLE < jump < CLOSE
            except RuntimeError as error:
                known[component] = not is_of_dtypes(error)
    return known[component]


def expect_plain(module: nn.Module) -> None:
    """Leave a module to a reader that computes parameters from others, as `weight_norm` does."""
    names = getattr(module, "parameter_names", None) or [name for name, _ in module.named_parameters()]
    old = any(name.endswith("_g") and f"{name[:-2]}_v" in names for name in names)  # `w_v` alone is anybody's
    if old or any(COMPUTED.search(name) for name in names):
        needs_reader("component, some of whose parameters are computed from others as by weight_norm,")


def learned_by(module: nn.Module) -> list[nn.Parameter]:
    """The parameters that training changes, of a component that computes none of them from others."""
    expect_plain(module)
    return learned(module)


def needs_reader(component: str) -> NoReturn:
    """End a test without a verdict on a "feed-forward network", or whatever it is."""
    raise UnreadableError(
        f"the {component} cannot be judged: the tests cannot tell which of its numbers plays which part\n"
        "  look at:  a person reads this code; parameters in one of the usual shapes are judged at once"
    )
