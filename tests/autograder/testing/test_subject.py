"""Faults of a component that a `Subject` finds, and what it leaves free; rubbish is never the grader's fault."""

from functools import partial

import pytest
import torch

from autograder.testing.case import Case
from autograder.testing.idle import is_idle, is_mostly_idle
from autograder.testing.results import CheckFailed
from autograder.testing.side_effects import expect_no_side_effects
from autograder.testing.subject import Subject
from validity.run_tests import Version, run_versions

from ..conftest import examples_in

RUBBISH = examples_in("testing/rubbish.toml")

X = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], dtype=torch.float64)


def double(x):
    return 2 * x


def in_place(x):
    x *= 2
    return x


def expect(function, x=X, formulas=(double,), **options):
    Subject(function, ["y"], list(formulas)).expect_values({"x": x}, "twice x", **options)


def expect_none(function):
    expect_no_side_effects(Subject(function, ["y"], [double]), {"x": X}, {"x": X.flip(0)}, lambda *given: "")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("function", [double, in_place, lambda x: x + x])
def test_right_code_passes_even_if_it_changes_its_argument(function, dtype):
    expect(function, X.to(dtype))


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda x: 2.001 * x, "6 of 6 values differ"),
        (lambda x: (2 * x).float(), "float64, like the inputs"),
        (lambda x: (2 * x)[:1], "shape (1, 3)"),
        (lambda x: None, "is a return missing?"),
        (lambda x: 2 * x / 0, "NaN or infinite"),
    ],
)
def test_a_wrong_result_is_named_with_the_inputs(function, message):
    with pytest.raises(CheckFailed) as caught:
        expect(function)
    assert message in str(caught.value) and "inputs:   x (2, 3)" in str(caught.value)


@pytest.mark.parametrize("is_slow", [False, True])
def test_where_formulas_call_the_submission_nothing_is_looked_at_closer(is_slow):
    """Those calls would use up the time of the part that the formula is."""
    calls = []

    def formula(x):
        calls.append(x)
        return 2 * x

    with pytest.raises(CheckFailed) as caught:
        Subject(lambda x: 3 * x, ["y"], [formula], is_slow=is_slow).expect_values({"x": X})
    before = len(calls)
    caught.value.look_closer()
    assert (len(calls) == before) is is_slow


def test_what_is_no_tensor_is_neither_idle_nor_the_same_in_train_mode():
    subject = Subject(lambda x: (None, x), ["y", "weights"], [double])
    assert not (is_idle(subject, {"x": X}) or is_mostly_idle(subject, {"x": X}))
    assert not subject.is_same_in_train_mode({"x": X}, torch.nn.Identity())


def keeps_first():
    kept = []
    return lambda x: kept.append(x.clone()) or 2 * kept[0]


@pytest.mark.parametrize(
    "function, message",
    [
        (in_place, "x after the call"),
        (keeps_first(), "must not depend on earlier ones"),
        (partial(torch.mul, torch.tensor(2.0), out=torch.empty_like(X)), "the result of an earlier call"),
        (lambda x: torch.ones_like(x), "calls with other inputs"),
        (lambda x: 2 * x + torch.rand(2, 3), "the same call, after others"),
    ],
)
def test_state_and_changed_arguments_cost_a_test(function, message):
    with pytest.raises(CheckFailed) as caught:
        expect_none(function)
    assert message in str(caught.value)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_wrong_values_may_have_right_gradients(dtype):
    scale = torch.tensor(3.0, dtype=dtype, requires_grad=True)
    pairs = [(scale, scale.detach().double().requires_grad_())]
    subject = Subject(lambda x, y: scale * x * y.exp(), ["z"], [torch.add], pairs)
    inputs = {"x": X.to(dtype), "y": X.flip(1).to(dtype)}
    subject.expect_gradients(Case(0, "test"), inputs)
    assert not subject.is_right(inputs)
    with pytest.raises(CheckFailed):
        subject.expect_values(inputs, case=Case(0, "test"))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x.detach() * y.exp(),
        lambda x, y: x * y.detach().exp() + y,
        lambda x, y: x * y + x.detach() * y.sin(),
        lambda x, y: (x * y).detach(),
        lambda x, y: torch.ones_like(x) + 0 * x + 0 * y,
        lambda x, y: x * y / 0,
    ],
)
def test_gradients_of_wrong_values_are_those_of_what_is_computed(function):
    with pytest.raises(CheckFailed):
        Subject(function, ["z"], [torch.add]).expect_gradients(Case(0, "test"), {"x": X, "y": X + 1}, nonzero=[])


def rubbish_versions(reference, assignment):
    """Every component with every rubbish in the place of its result, and of its parameters."""
    for component in assignment.contract.components:
        module, name = component.split(".")
        path, text = reference.get(module, ("", ""))
        made, changed = RUBBISH["function"].format(name=name) if f"def {name}" in text else "", {}
        if f"class {name}" in text and component != "data.Batch":
            made = RUBBISH["class"].format(name=name, base=name, passed_on="*a, **k", parameters="pass")
            for label, parameters in RUBBISH["parameters"].items():
                empty = RUBBISH["class"].format(name=name, base="nn.Module", passed_on="", parameters=parameters)
                for result in ("x", "(x, x)", "(x, [x, x, x], [x, x, x])"):
                    changed[f"{label} {result}"] = RUBBISH["helper"].format(result=result) + empty
        if made:
            changed |= {
                label: RUBBISH["helper"].format(result=result) + made for label, result in RUBBISH["results"].items()
            }
        markers = tuple(task.marker for task in assignment.tasks if component in task.components) or ("given",)
        for label, rubbish in changed.items():
            yield Version(f"{component}: {label}", {**reference, module: (path, text + rubbish)}, [1], markers)


@pytest.mark.slow
def test_rubbish_fails_and_breaks_nothing(sampled, reference, assignment):
    versions = sampled(rubbish_versions(reference, assignment), 42)
    for run in run_versions(versions, reference, assignment):
        for outcomes in run.outcomes.values():
            assert [outcome for outcome in outcomes if outcome.state == "grader error"] == [], run.version
            assert any(outcome.state != "passed" for outcome in outcomes), run.version
