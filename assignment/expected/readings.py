"""What a component may compute with its parameters: a computation for each reading of them.

The contract leaves free how a submission names its parameters and lays them out. Tests write random values into all of
them, so that only the right reading gives what the component returns. Each function takes the tensors to compute with,
in the order of the module's learned parameters.

Layouts are endless, and right code must not lose points for being unusual: where nothing tells which number plays which
part, the component needs a reader.
"""

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.testing.case import Case
from autograder.testing.comparison import expect
from autograder.testing.fitting import Computation, attempt, leaves_of
from autograder.testing.results import CheckFailed, OtherPartsError, UnreadableError
from autograder.testing.subject import Subject
from autograder.testing.submission import SubmissionUnderTest

from .by_behaviour import Component, Draw, Formula, find_formula, learned, normal
from .layers import pairs_of
from .usual_layouts import formula_readings, network_formula

COMPUTED = re.compile(r"(^|\.)parametrizations\.|_orig$")
"""Names of parameters from which PyTorch's parametrisations compute others; the old `weight_norm` has `_g` and `_v`."""

Search = Callable[[Sequence[Formula], Draw], Computation | None]
"""Looks for one of some formulas in a component, wherever its parameters stand."""


def made(
    submission: SubmissionUnderTest,
    case: Case,
    component: str,
    sizes: Sequence[int],
    parts: Sequence[str],
    read: Callable[[nn.Module, list[Tensor], Search], Sequence[Computation]],
    *,
    dtype: torch.dtype = torch.float64,
    called_before_with: Tensor | None = None,
    randomised: slice = slice(None),
    **options: Any,
) -> Subject:
    """A module of the submission in eval mode, with random parameters.

    Args:
        submission: that has it.
        case: draws the parameters.
        component: its name in the contract.
        sizes: arguments of its constructor.
        parts: names of what it returns.
        read: finds what it may compute with these tensors for its parameters, by their shapes or by a search.
        dtype: of the parameters.
        called_before_with: a tensor with which it is called before it gets its random parameters, as in training.
        randomised: which of its parameters become random.
        options: further arguments of the constructor.
    """
    module = submission.build(component, *sizes, dtype=dtype, **options).eval()
    if called_before_with is not None:
        with torch.inference_mode():
            module(*[called_before_with] * (3 if len(parts) > 1 else 1))
    case.randomise(list(module.parameters())[randomised])
    parameters = learned(module)
    leaves = leaves_of(parameters)

    def search(formulas: Sequence[Formula], draw_arguments: Draw) -> Computation | None:
        def twin() -> Component:
            other = submission.build(component, *sizes, dtype=torch.float64, **options).eval()
            return Component(other, learned(other), draw_arguments)

        with torch.no_grad():  # what it raises with usual numbers is its own fault
            module(*[to_dtype(one, dtype) for one in draw_arguments(torch.Generator())])
        return find_formula(submission, (component, *sizes, *options.items()), twin, leaves, formulas)

    def find() -> Sequence[Computation]:
        expect_plain(module)
        return read(module, leaves, search)

    formulas = attempt(find)
    frozen = [p for p in module.parameters() if not p.requires_grad]
    if frozen and isinstance(formulas, CheckFailed):  # what is not learned is another item
        parameters = list(module.parameters())
        leaves = leaves_of(parameters)
        formulas = attempt(find)
    return Subject(module, parts, formulas, list(zip(parameters, leaves, strict=True)), dtype)


def to_dtype(value: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """An argument whose floats have this dtype."""
    return value.to(dtype) if value is not None and value.is_floating_point() else value


def embeddings(leaves: Sequence[Tensor], vocab_size: int, d_model: int, search: Search) -> list[Computation]:
    """Looks vectors up in a table (vocab_size, d_model), in any layout, and multiplies them by sqrt(d_model)."""

    def look_up(table: Tensor) -> Computation:
        return lambda tokens: F.embedding(tokens, table) * math.sqrt(d_model)

    matrices = [leaf for leaf in leaves if leaf.dim() == 2]  # one with more rows than tokens fails a test of its own
    tables = [leaf for leaf in matrices if leaf.size(0) >= vocab_size and leaf.size(1) == d_model]
    tables += [leaf.T for leaf in matrices if leaf.size(1) >= vocab_size and leaf.size(0) == d_model]
    if not tables:
        expect_numbers(leaves, vocab_size * d_model, "one vector of d_model features for each token, as a parameter")
        formula = Formula([(vocab_size, d_model)], lambda parts: look_up(parts[0]))
        return [search([formula], lambda chance: [torch.arange(vocab_size)[None]]) or needs_reader("embedding")]
    return [look_up(table) for table in tables]


def layer_norms(leaves: Sequence[Tensor], d_model: int, epsilon: float, search: Search) -> list[Computation]:
    """PyTorch's own layer norm, whichever numbers are the gain: it may be kept as its difference from 1."""

    def norm_by(numbers: Sequence[Tensor], least: float = 0.0) -> Computation:
        gain, shift = numbers
        return lambda x: F.layer_norm(x, (d_model,), least + gain, shift, epsilon)

    pairs = pairs_of(leaves, d_model)
    if pairs and len(leaves) != 2:
        shapes = [(d_model,), (d_model,)]
        formulas = [Formula(shapes, norm_by), Formula(shapes, partial(norm_by, least=1.0))]
        found = search(formulas, normal((3, 4, d_model)))
        if found is not None:
            return [found]
    return [norm_by(pair, least) for least in (0.0, 1.0) for pair in pairs]


def feed_forwards(leaves: Sequence[Tensor], d_model: int, d_ff: int, search: Search) -> list[Computation]:
    """W_2 relu(W_1 x + b_1) + b_2, for each way to lay out two matrices and two biases."""
    found: list[Computation] = list(formula_readings(leaves, d_model, d_ff))
    if not found:
        expect_numbers(leaves, 2 * d_model * d_ff + d_model + d_ff, "two maps, each with a bias")
        placed = search([network_formula(d_model, d_ff)], normal((2, 6, d_model)))
        return [placed or needs_reader("feed-forward network")]
    return found


def expect_numbers(parameters: Sequence[Tensor], wanted: int, what: str) -> None:
    """Fails unless a component learns so many numbers; if it learns any, gradients are judged by what it computes."""
    count = sum(parameter.numel() for parameter in parameters)
    kind = OtherPartsError if count else CheckFailed
    expect(count == wanted, "the learned parameters", f"{wanted} numbers", f"{count}", what, kind)


def learned_and_leaves(module: nn.Module) -> tuple[list[nn.Parameter], list[Tensor]]:
    """The parameters that training changes, and copies of them in float64 to compute with."""
    expect_plain(module)
    parameters = learned(module)
    return parameters, leaves_of(parameters)


def expect_plain(module: nn.Module) -> None:
    """Leaves a module to a reader that computes parameters from others, as `weight_norm` does."""
    names = getattr(module, "parameter_names", None) or [name for name, _ in module.named_parameters()]
    old = any(name.endswith("_g") and f"{name[:-2]}_v" in names for name in names)  # `w_v` alone is anybody's
    if old or any(COMPUTED.search(name) for name in names):
        needs_reader("component, some of whose parameters are computed from others as by weight_norm,")


def needs_reader(what: str) -> NoReturn:
    """Ends a test without a verdict on a "feed-forward network", or whatever it is."""
    raise UnreadableError(
        f"the {what} cannot be judged: the tests cannot tell which of its numbers plays which part\n"
        "  look at:  a person reads this code; parameters in one of the usual shapes are judged at once"
    )
