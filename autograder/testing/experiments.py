"""Calls a component a few more times where the numbers themselves show nothing of its mistake.

Two kinds of experiments. Is the wrong result the right one of other arguments, such as one in place of another, or a
mask that is inverted? And does the result change where it should, and only there, if one argument, one sentence or one
parameter changes? What they show is true of this call, whatever the mistake is; they never decide about marks.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, permutations
from typing import Any

import torch
from torch import Tensor

from .case import Inputs, earlier_keys
from .comparison import CLOSE, NEGLIGIBLE, alike

Compute = Callable[[Inputs], Tensor]
"""From arguments by name to the part of the result that was wrong. Raises whatever it likes."""

AXES = {0: "sentence", -2: "position"}
MOST_FITS = 2


def look(
    call: Compute,
    formulas: Sequence[Compute],
    inputs: Inputs,
    module: object,
    parameters: Sequence[Tensor],
    inside: Callable[[Inputs], str] | None = None,
    is_thorough: bool = True,
) -> str:
    """Describe in one line the findings of experiments on a wrong result of a call; "" without any.

    One of the formulas should have fitted. `inside` names a part that reads something else than it should. If it is
    thorough, hints at the mistake count, too, not only what names it.
    """

    def find() -> str:
        result, is_training = call(inputs), getattr(getattr(module, "__self__", module), "training", None)
        if inside and is_training and (text := inside(inputs)):
            return text
        if not alike(result, call(inputs)):
            where = "where, and at which rate, is dropout" if is_training else "is dropout"
            mode = "in eval mode " if is_training is False else ""
            return f"{mode}two equal calls give different results: {where} active?"
        if any(alike(result, wanted) for wanted in tried(formulas, inputs)):
            return ""  # what is off by rounding is near the right result of other arguments, too
        looks = [
            other_mode(call, formulas, inputs, module),
            iter([inside(inputs)] if inside else []),
            of_other_arguments(result, formulas, inputs),
        ]
        if is_thorough and bool(torch.isfinite(result).all()):  # else nothing seems to matter
            looks += [
                of_arguments(call, result, formulas[0], inputs),
                of_entries(call, result, formulas[0], inputs),
                of_parameters(call, result, inputs, parameters, module),
            ]
        return next((text for texts in looks for text in texts if text), "")

    return attempted(find)


def attempted(find: Callable[[], str]) -> str:
    """Return what an experiment finds; "" where it fails. Whatever is drawn at random later stays as it was."""
    state = torch.random.get_rng_state()
    try:
        with torch.no_grad():
            return find()
    except Exception:  # another call of faulty code may fail in any way, and a test has failed already
        return ""
    finally:
        torch.random.set_rng_state(state)


def tried(formulas: Sequence[Compute], inputs: Inputs) -> Iterator[Tensor]:
    """Yields what the formulas give for arguments that may not fit together."""
    for formula in formulas:
        try:
            yield formula(inputs)
        except (RuntimeError, IndexError, TypeError, AttributeError, ValueError, AssertionError):
            return


def other_mode(call: Compute, formulas: Sequence[Compute], inputs: Inputs, module: object) -> Iterator[str]:
    """Notices a result that is right in the other mode."""
    if not isinstance(training := getattr(module, "training", None), bool):
        return
    module.train(not training)  # type: ignore[attr-defined]
    try:
        result = call(inputs)
    finally:
        module.train(training)  # type: ignore[attr-defined]
    if any(alike(result, wanted) for wanted in tried(formulas, inputs)):
        now, then = ("train", "eval") if training else ("eval", "train")
        yield f"in {then} mode the result is right, in {now} mode it is not"


def of_other_arguments(result: Tensor, formulas: Sequence[Compute], inputs: Inputs) -> Iterator[str]:
    """Notices a result that is right for other arguments; two kinds of them may fit."""
    fits = (
        text
        for text, changed in others(inputs)
        if any(alike(result, wanted) for wanted in tried(formulas, {**inputs, **changed}))
    )
    if texts := [*islice(fits, MOST_FITS)]:
        yield f"this is the right result {', or '.join(texts)}"


def others(inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """Yields other arguments that a mistake may use, each with words that continue "this is the right result"."""
    tensors = {name: value for name, value in inputs.items() if value is not None}
    masks = {name: value for name, value in tensors.items() if value.dtype == torch.bool}
    if "query" in tensors and inputs.get("mask", masks) is None:
        yield "with a causal mask", {"mask": earlier_keys(tensors["query"].size(-2), tensors["key"].size(-2))}
    for name, mask in masks.items():
        yield f"without {name}", {name: None}
        yield f"of the inverted {name}", {name: ~mask}
        if mask.dim() == 4:
            for axis, of in enumerate(("sentence", "head", "query")):
                yield f"if the {name} of the first {of} served for all", {name: mask.narrow(axis, 0, 1)}
    for name, value in tensors.items():
        if name not in masks and value.dim() > 2 and value.size(-1) != value.size(-2):
            turned = value.reshape(value.mT.shape).mT
            yield f"if {name} were reshaped, which mixes its positions, where it should be transposed", {name: turned}
    for first, second in permutations(tensors, 2):
        if (first in masks) is (second in masks):
            yield f"if {second} were {first}", {second: tensors[first]}


def of_arguments(call: Compute, result: Tensor, formula: Compute, inputs: Inputs) -> Iterator[str]:
    """Notices arguments on which the result does not depend, though it should."""
    wanted = formula(inputs)
    for name, value in inputs.items():
        if value is None or not value.is_floating_point():
            continue
        changed = {**inputs, name: value + 0.5 * torch.randn_like(value)}
        if alike(call(changed), result) and not alike(formula(changed), wanted):
            yield f"the result does not depend on {name}"


def of_entries(call: Compute, result: Tensor, formula: Compute, inputs: Inputs) -> Iterator[str]:
    """Notices that a change in one sentence, or at one position, is felt in another one, or not where it should be."""
    wanted = formula(inputs)
    for name, value in inputs.items():
        if value is None or not value.is_floating_point() or value.dim() < 2:
            continue
        for axis, unit in AXES.items():
            if value.size(axis) < 2 or (axis == -2 and value.dim() < 3):
                continue
            moved = value.clone()
            moved.select(axis, 0).add_(0.5 * torch.randn_like(moved.select(axis, 0)))
            changed = {**inputs, name: moved}
            got, due = (places(a, b, axis) for a, b in ((call(changed), result), (formula(changed), wanted)))
            if len(got) != len(due):
                continue
            for wrong, verb, end in ((got & ~due, "changes", ", too"), (due & ~got, "leaves", " as it was")):
                if bool(wrong.any()):
                    place = int(wrong.nonzero()[0])
                    yield f"a change of {unit} 0 of {name} {verb} the result of {unit} {place}{end}"


def places(result: Tensor, other: Tensor, axis: int) -> Tensor:
    """Return where along an axis two results differ, bool."""
    different = (result.double() - other.double()).abs() > CLOSE * (NEGLIGIBLE + other.double().abs().mean())
    return different.transpose(0, axis).flatten(1).any(1)


def of_parameters(
    call: Compute, result: Tensor, inputs: Inputs, parameters: Sequence[Tensor], module: Any
) -> Iterator[str]:
    """Notices parameters on which the result does not depend; the bias of an attention's keys need not matter."""
    idle: list[Tensor] = []
    for parameter in parameters:
        kept = parameter.detach().clone()
        parameter.copy_(kept + 0.5 * torch.randn_like(kept))
        idle += [parameter] * alike(call(inputs), result)
        parameter.copy_(kept)
    if idle and len(idle) == len(parameters):
        yield "the result does not depend on any parameter"
        return
    has_attention = sum(parameter.dim() > 1 for parameter in parameters) > 2
    if named := [parameter for parameter in idle if parameter.dim() > 1 or not has_attention]:
        names = getattr(module, "parameter_names", None) or [name for name, _ in module.named_parameters()]
        of = next((name for name, p in zip(names, module.parameters(), strict=False) if p is named[0]), "the parameter")
        yield f"the result does not depend on {of}, of shape {tuple(named[0].shape)}"
