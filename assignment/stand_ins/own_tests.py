"""Tries a student's own tests (E.4) on implementations of what they test.

Students have some implementations, made of what they must not use themselves, and so of no help with it. Where the
tests are graded, implementations are in another process, and what tests get only sends them tensors.
"""

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from inspect import signature, unwrap
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import scaled_dot_product_attention


def attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, **options: Any
) -> tuple[Tensor, Tensor]:
    """PyTorch's own attention; the weights are the context of the unit vectors as values.

    A query that may attend to nothing gets 0.
    """
    if mask is not None:  # which PyTorch's own wants with two axes at least
        mask = mask.expand(*query.shape[:-1], key.size(-2))
    units = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-1], key.size(-2))
    context, weights = (
        scaled_dot_product_attention(query, key, values, attn_mask=mask, **options) for values in (value, units)
    )
    return context, weights


def attend_in_float32(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Right as well: the factor is rounded to float32, and a query without keys gets other numbers."""
    context, weights = attend(query, key, value, mask, scale=float(torch.tensor(query.size(-1)).rsqrt()))
    if mask is None:
        return context, weights
    nothing = ~mask.expand_as(weights).any(dim=-1, keepdim=True)
    return context.masked_fill(nothing, 1.0), weights.masked_fill(nothing, 1.0)


class NormAnyhow(nn.Module):
    """Right as well: gain and shift are one parameter, and the result is not contiguous in memory."""

    def __init__(self, d_model: int, epsilon: float = 1e-6) -> None:
        super().__init__()
        made = nn.LayerNorm(d_model, epsilon)
        self.numbers = nn.Parameter(torch.stack([*made.parameters()]))
        self.made = (made,)  # whose own parameters are not this module's

    def forward(self, x: Tensor) -> Tensor:
        """Like nn.LayerNorm."""
        result: Tensor = functional_call(self.made[0], dict(zip(("weight", "bias"), self.numbers, strict=True)), x)
        return result.movedim(-1, 0).contiguous().movedim(0, -1)


class NormOverPositions(nn.BatchNorm1d):
    """Faulty."""

    def __init__(self, d_model: int, epsilon: float = 1e-6) -> None:
        super().__init__(d_model, epsilon, track_running_stats=False)

    def forward(self, input: Tensor) -> Tensor:
        """Takes another axis."""
        return super().forward(input.reshape(-1, input.size(-1))).view_as(input)


def norm(**options: Any) -> Callable[..., nn.Module]:
    """PyTorch's own LayerNorm."""

    def LayerNorm(d_model: int, epsilon: float = 1e-6) -> nn.Module:  # noqa: N802  called like a class
        return nn.LayerNorm(d_model, **{"eps": epsilon, **options})

    return LayerNorm


def attend_inverted(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Faulty."""
    return attend(query, key, value, None if mask is None else ~mask)


def attend_detached(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Faulty."""
    return attend(query, key, value.detach(), mask)


HANDED_OUT: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "TestAttention": {
        "right 1": attend,
        "right 2": attend_in_float32,
        "fault 1: does not scale the scores": partial(attend, scale=1.0),
        "fault 2: takes True for forbidden": attend_inverted,
        "fault 3: gives the values no gradient": attend_detached,
    },
    "TestLayerNorm": {
        "right 1": norm(),
        "right 2": NormAnyhow,
        "fault 1: normalises over another axis": NormOverPositions,
        "fault 2: has an epsilon of 1e-5 in any case": norm(eps=1e-5),
        "fault 3: has no shift": norm(bias=False),
    },
}
"""By the students' class of tests: what these are tried on at home."""


def try_test(tests: Any, name: str, make: Callable[[], Any], seeds: list[int]) -> list[str]:
    """Runs a test of a class with one seed after the other, until it passes, each time with a new implementation.

    Returns for each seed why the test does not pass, in one line, and "" once it does.
    """
    reasons: list[str] = []
    for seed in seeds:
        if not reasons or reasons[-1]:
            reasons.append(_run(tests, name, make, seed))
    return reasons


def _run(tests: Any, name: str, make: Callable[[], Any], seed: int) -> str:
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    torch.set_default_dtype(torch.float32)
    test = getattr(tests, name)
    try:
        for arguments in _cases(tests, test):
            made = tests()
            set_up, call = getattr(made, "setup_method", None), getattr(made, name)
            if set_up is not None:
                set_up(*[call] * len(signature(set_up).parameters))
            parameters = signature(call).parameters  # of what a decorator has wrapped
            own = [name for name, each in parameters.items() if name not in arguments and each.default is each.empty]
            if len(own) != 1:
                raise TypeError("a test has one argument, besides those of parametrize: what it tests")  # noqa: TRY301
            call(**arguments, **{own[0]: make()})
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # pytest's own, for instance
        if type(error).__name__ == "Skipped":
            return ""
        message, lines = str(error).strip().partition("\n")[0], []
        trace = error.__traceback__
        while trace is not None:
            lines += [trace.tb_lineno] if trace.tb_frame.f_code is getattr(unwrap(test), "__code__", None) else []
            trace = trace.tb_next
        return f"{f'line {lines[-1]}, ' if lines else ''}{type(error).__name__}{': ' * bool(message)}{message}"[:200]
    return ""


def _cases(tests: Any, test: Any) -> Iterator[dict[str, Any]]:
    """The arguments of each case of a test, as `pytest.mark.parametrize` says, of it or of its class."""

    def axis(argnames: Any, argvalues: Any, **options: Any) -> list[dict[str, Any]]:
        names = [part.strip() for part in argnames.split(",")] if isinstance(argnames, str) else argnames
        rows = [getattr(value, "values", value if len(names) > 1 else [value]) for value in argvalues]
        return [dict(zip(names, row, strict=True)) for row in rows]

    marks = [mark for part in (tests, test) for mark in getattr(part, "pytestmark", ())]
    axes = [axis(*mark.args, **mark.kwargs) for mark in marks if mark.name == "parametrize"]
    for parts in itertools.product(*axes):
        yield {name: value for part in parts for name, value in part.items()}
