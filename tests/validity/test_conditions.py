"""Faults under conditions: the switch between right and faulty, the sample, and what is told of the result."""

import json

import pytest
import torch
from torch import nn

from autograder.assignment_code import conditions_of
from autograder.diagnosis.catalogue import read_catalogue
from autograder.testing import comparison
from foundation.places import ASSIGNMENT_FILE
from validity.__main__ import main
from validity.conditions.switch import HELD, conditional
from validity.conditions.versions import all_pairs, sample, sources_of


class Right(nn.Module):
    """Scales by a parameter."""

    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.full((d_model,), 2.0))

    def forward(self, x):
        return x * self.weight


class Faulty(Right):
    """Adds instead."""

    def forward(self, x):
        return x + self.weight


@pytest.fixture
def seen():
    """What the switch says."""
    found = []

    def observe(what, error, tolerance):
        if what == HELD:
            found.append(error)

    comparison.observers.append(observe)
    yield found
    comparison.observers.remove(observe)


def switch(condition, right=Right, faulty=Faulty):
    return conditional(right, faulty, "layers.FeedForward", condition, str(ASSIGNMENT_FILE))


def test_the_fault_shows_only_where_the_condition_holds(seen):
    module = switch("no grad")(3).double()
    x = torch.tensor([[[1.0, 2.0, 3.0]]], dtype=torch.float64)
    assert torch.equal(module(x), 2 * x) and seen == []
    with torch.no_grad():
        assert torch.equal(module(x), x + 2)
    assert seen == [1.0]


def test_both_sides_have_the_same_parameters(seen):
    module = switch("train mode")(3)
    with torch.no_grad():
        module.weight.fill_(5.0)
    x = torch.ones(1, 1, 3)
    module(x).sum().backward()
    assert torch.equal(module.train()(x), x + 5) and torch.equal(module.weight.grad, torch.ones(3))


def test_a_setting_makes_the_whole_object_faulty(seen):
    made, other = switch("one feature")(1), switch("one feature")(2)
    x, y = torch.ones(1, 1, 1), torch.ones(1, 1, 2)
    assert torch.equal(made(x), x + 2) and torch.equal(other(y), 2 * y) and seen == [0.0, 1.0]


def test_a_setting_under_which_the_fault_makes_no_difference_is_told(seen):
    switch("one feature", faulty=Right)(1)(torch.ones(1, 1, 1))
    assert set(seen) == {0.0}


def test_one_tensor_in_two_roles_is_no_difference(seen):
    def attend(query, key, value, mask=None):
        return query * key

    switched = conditional(
        attend, attend, "attention.scaled_dot_product_attention", "as many queries as keys", str(ASSIGNMENT_FILE)
    )
    x = torch.ones(1, 1, 2, 3, requires_grad=True)
    switched(x, x, x)
    assert seen == [0.0]


def test_what_makes_no_difference_is_told(seen):
    module = switch("no grad", faulty=Right)(2)
    with torch.no_grad():
        module(torch.ones(1, 2, 2))
    assert seen == [0.0]


def test_time_is_known(seen):
    import copy

    module, x = switch("a deep copy")(2), torch.ones(1, 2, 2)
    assert torch.equal(module(x), 2 * x) and torch.equal(copy.deepcopy(module)(x), x + 2)
    module = switch("weights from a state dict")(2)
    assert torch.equal(module(x), 2 * x)
    module.load_state_dict(module.state_dict())
    assert torch.equal(module(x), x + 2)
    module = switch("the second call")(2)
    assert torch.equal(module(x), 2 * x) and torch.equal(module(x), x + 2)


def test_a_function_is_switched_too(seen):
    function = conditional(
        lambda query, key, value, mask=None: query,
        lambda query, key, value, mask=None: key,
        "attention.scaled_dot_product_attention",
        "as many queries as keys",
        str(ASSIGNMENT_FILE),
    )
    one, two = torch.zeros(1, 1, 2, 3), torch.ones(1, 1, 4, 3)
    assert function(one, two, two) is one and function(one, one + 1, one).sum() == 6 and seen == [1.0]


@pytest.fixture(scope="module")
def pairs(assignment):
    return all_pairs(read_catalogue(assignment=assignment), conditions_of(assignment).CONDITIONS)


def test_a_sample_has_all_conditions_and_components(pairs):
    drawn = sample(pairs, 300, 0)
    assert len(drawn) == 300 and len(pairs) > 10_000
    assert {pair.condition for pair in drawn} == {pair.condition for pair in pairs}
    assert {pair.fault.component for pair in drawn} == {pair.fault.component for pair in pairs}
    assert drawn != sample(pairs, 300, 1) and drawn == sample(pairs, 300, 0)


def test_every_version_is_python(pairs, reference, assignment):
    for pair in sample(pairs, 100, 3):
        for module, (path, text) in sources_of(pair, reference, assignment).items():
            if reference.get(module) != (path, text):
                compile(text, path, "exec")


@pytest.mark.slow
def test_the_command_finds_a_fault_under_a_condition(capsys):
    fault = "layer-norm-no-shift"
    arguments = ["prove", "--conditions", "all", "--condition", "train mode", "--fault", fault, "--json"]
    assert main(arguments) == 0
    data = json.loads(capsys.readouterr().out)
    assert [trial["state"] for trial in data["trials"]] == ["found"] and data["wrongly_blamed"] == []
    assert data["trials"][0]["lost_points"].keys() == {"1.4"}


@pytest.mark.parametrize(
    "arguments",
    [["--conditions", "many"], ["--conditions", "3", "--condition", "no such"], ["--condition", "train mode"]],
)
def test_wrong_options_are_one_line(arguments, capsys):
    assert main(["prove", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
