"""Ordinary habits, some of which cost marks under other graders, work in a worker that can open no file.

A student's own run comes out the same: what a worker lacks fails there in the same words. Before a submission runs, its
imports are loaded; settings that one of its modules makes for the whole process are taken back.
"""

import textwrap

import pytest
import torch
from packaging.requirements import Requirement

from autograder.sandbox.worker.loading import PACKAGES
from foundation.places import ROOT
from release import contents
from release.packing import read_requirements

from ...conftest import examples_in

EXAMPLES = examples_in("sandbox/worker/habits.toml")

CALLED = "decode.greedy_decode"
COMPONENT = "\n\ndef greedy_decode(x):\n    return habit(x)\n"
DOUBLED = "\ndef habit(x):\n    return 2 * x\n"


TOOLS = "def double(x):\n    return 2 * x\n"
HELPER = "from .tools import double as habit"
WORKS = {habit: text + DOUBLED for habit, text in EXAMPLES["at_import"].items()} | {"a helper": HELPER}
for name, body in EXAMPLES["in_a_call"].items():
    WORKS[name] = f"{EXAMPLES['imported']}\ndef habit(x):\n{textwrap.indent(body, '    ')}\n    return 2 * x\n"


@pytest.mark.parametrize("text", WORKS.values(), ids=WORKS)
def test_an_ordinary_habit_works_and_is_not_listed(text: str, sandbox):
    submission = sandbox({"decode": text + COMPONENT, "tools": TOOLS})
    assert torch.equal(submission.call(CALLED, torch.ones(4, 3)), torch.full((4, 3), 2.0))
    submission.restart()
    assert [use for use in submission.notices.seen if "torch.jit" not in use[2]] == []  # the text has that, too
    assert "Permission" not in submission.output and "Operation not permitted" not in submission.output
    assert text != WORKS["a log file"] or submission.output == "(graded, files are not written: '/debug.log')\n"


@pytest.mark.parametrize("text, words", EXAMPLES["refused"].items())
def test_what_cannot_work_fails_in_the_same_words(text: str, words: str, ways):
    reasons = []
    for submission in ways({"decode": text + DOUBLED + COMPONENT}):
        with pytest.raises(ImportError) as caught:
            submission.call(CALLED, torch.ones(3))
        reasons.append(str(caught.value).partition(" (")[0])
    assert reasons[0] == reasons[1] and words in reasons[0]


@pytest.mark.parametrize("text, words", EXAMPLES["unimportable"].items())
def test_a_helper_that_cannot_be_imported_raises_its_own_error_where_it_is_used(text: str, words: str, ways):
    using = "from .between import *\nfrom .between import double as habit" + COMPONENT
    for submission in ways({"decode": using, "between": "from .tools import double", "tools": text}):
        for _ in range(2):
            with pytest.raises(Exception, match=words) as caught:
                submission.call(CALLED, torch.ones(3))
            paths = str([entry.path for entry in caught.traceback])
            assert "tools.py" in getattr(caught.value, "student_traceback", paths)


def test_settings_of_one_module_cost_no_other_component(sandbox):
    submission = sandbox({"attention": "\n".join(["import torch", *EXAMPLES["settings"].values()])})
    norm = submission.build("layers.LayerNorm", 4)
    norm(torch.randn(2, 4)).sum().backward()
    assert norm.p0.dtype == torch.float32 and norm.p0.grad is not None
    left = "torch.are_deterministic_algorithms_enabled(), torch.is_autocast_enabled('cpu'), torch.empty(0).is_meta"
    left += ", sys.getrecursionlimit() == 150, 'StringIO' in str(type(sys.stdout))"
    assert submission.call(CALLED, f"[{left}]") == [False] * 5


def test_what_is_available_is_what_students_and_gradescope_install():
    available = {name.lower() for name in PACKAGES}
    students = {Requirement(text).name for text in read_requirements(ROOT)}
    assert students - available == {"jupyter"}
    assert available - students == {"ipython", "ipywidgets", "typing_extensions"}, "jupyter and torch bring them"
    assert available - {*contents.PACKAGES} == {"typing_extensions"}, "torch brings it"
