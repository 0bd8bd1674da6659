"""What a way round the refusals needs is reported with file and line; `test_habits.py` has what is not reported."""

from contextlib import suppress

import pytest
import torch

from autograder.sandbox.errors import SubmissionError

from ...conftest import examples_in

EXAMPLES = examples_in("sandbox/worker/reported.toml")
MEDDLING = examples_in("sandbox/worker/meddling.toml")
IMPORTS, SUBMISSIONS = EXAMPLES["imports"], MEDDLING["submissions"]
NESTED = "x = " + "-" * 2_000 + "sys.maxsize"
REPORTED = {**EXAMPLES["lines"], NESTED: "nested too deeply to be watched"}
CASES = [
    pytest.param(name, marks=() if case.get("is_harmless") else pytest.mark.hostile)
    for name, case in SUBMISSIONS.items()
]


@pytest.mark.hostile
def test_a_change_of_an_argument_cannot_be_hidden(sandbox):
    x = torch.ones(2, 4)
    submission = sandbox({"layers": EXAMPLES["others"]["hiding"]})
    with torch.no_grad():
        submission.build("layers.FeedForward", 4, 4)(x)
    assert x.isnan().all()
    assert [name for _, _, name in submission.notices.seen] == ["torch.equal replaced", "torch.Tensor.detach replaced"]


@pytest.mark.parametrize("name", CASES)
def test_who_goes_round_the_refusals_is_reported(sandbox, name):
    """Also what meddles with the worker, and what no line of the submission calls."""
    case = SUBMISSIONS[name]
    modules = {module: case[module] for module in ("attention", "layers") if module in case}
    if (name := modules.get("layers")) in MEDDLING["texts"]:
        modules["layers"] = MEDDLING["texts"][name].replace("{change}", case["change"])
    submission = sandbox(modules)
    x = torch.randn(4, 4, requires_grad="is_differentiated" in case)
    with suppress(SubmissionError):
        if "sizes" in case:
            result = submission.build(case["called"], *case["sizes"])(x)
            if x.requires_grad:
                result.sum().backward()
        else:
            submission.call(case["called"], x)
    submission.restart()
    assert {tuple(use) for use in case.get("seen", [])} <= {*submission.notices.seen}
    assert "is_unguarded" not in case or submission.notices.unguarded == [case["called"]]


@pytest.mark.hostile
@pytest.mark.parametrize("way", ["garbage", "a key"])
def test_what_happens_within_the_hook_is_heard(sandbox, way):
    submission = sandbox(MEDDLING["within"])
    n_reached = submission.call("decode.greedy_decode", way)
    assert any(name == "torch._C" for _, _, name in submission.notices.seen) or (way, n_reached) == ("garbage", 0)


@pytest.mark.parametrize("line", REPORTED)
def test_what_a_way_round_needs_is_reported(sandbox, line):
    text = f"{IMPORTS}\ndef greedy_decode():\n    {line}\n"
    submission = sandbox({"decode": text})
    with suppress(SubmissionError):
        submission.call("decode.greedy_decode")
    assert "REACHED" not in submission.output
    number = 1 if "nested" in REPORTED[line] else text.count("\n")
    assert ("decode", number, REPORTED[line]) in submission.notices.seen or not REPORTED[line]


@pytest.mark.parametrize(
    "line, words",
    [("a." * 300, "a name of more than 200 parts"), (f"0x{'f' * 4000}", "a number of more than 3000 digits")],
)
def test_text_that_nobody_can_search_does_not_run(sandbox, line, words):
    submission = sandbox({"decode": f"# {line}\ndef greedy_decode():\n    pass\n"})
    with pytest.raises(SubmissionError, match=rf"decode\.py cannot be read: {words}"):
        submission.call("decode.greedy_decode")


def test_dots_lead_from_where_a_module_is(sandbox):
    submission = sandbox({"decode": "__package__ = 'operator'\nfrom . import attrgetter as greedy_decode\n"})
    with pytest.raises(SubmissionError, match="cannot import name 'attrgetter' from 'submission'"):
        submission.call("decode.greedy_decode", "real")


def test_modules_under_other_names_are_not_reported(sandbox):
    submission = sandbox({"decode": IMPORTS.replace("nn.functional, nn.modules", "0, 0") + EXAMPLES["others"]["plain"]})
    submission.call("decode.greedy_decode", torch.ones(2))
    assert submission.notices.seen == []


def test_numpy_gives_no_memory_by_an_interface_and_works(sandbox):
    submission = sandbox({"decode": EXAMPLES["others"]["memory"]})
    assert submission.call("decode.greedy_decode", torch.ones(3)).tolist() == [0, 5]
