"""A student's own run refuses imports that fail when the submission is graded."""

import importlib
import sys

import pytest
import torch

from autograder.testing.in_process import InProcessSubmission, read_sources
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, SKELETON

RELATIVE = "from .attention import MultiHeadedAttention"


@pytest.fixture
def own_run():
    """Makes a run of the reference whose layers import attention in another way."""
    made = []

    def make(statement: str) -> InProcessSubmission:
        sources = read_sources(REFERENCE, SKELETON)
        path, text = sources["layers"]
        assert RELATIVE in text
        made.append(InProcessSubmission({**sources, "layers": (path, text.replace(RELATIVE, statement))}, assignment))
        return made[-1]

    assignment = read_assignment()
    yield make
    for submission in made:
        submission.close()


def forget_the_package(monkeypatch) -> None:
    """As in a student's process, which has not imported the package that it stands beside."""
    for name in [name for name in sys.modules if name == "student" or name.startswith("student.")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize(
    "statement", ["from student.attention import MultiHeadedAttention", "import student.attention"]
)
def test_an_import_by_the_full_name_is_refused(own_run, monkeypatch, statement):
    forget_the_package(monkeypatch)
    with pytest.raises(ModuleNotFoundError, match=r"'student.attention' when graded: write `from .attention"):
        own_run(statement).build("layers.LayerNorm", 4)


def test_what_works_when_graded_works(own_run, monkeypatch):
    forget_the_package(monkeypatch)
    fallback = f"try:\n    from student.attention import MultiHeadedAttention\nexcept ImportError:\n    {RELATIVE}"
    norm = own_run(fallback).build("layers.LayerNorm", 4)
    assert norm(torch.ones(2, 4)).shape == (2, 4)


def test_others_may_import_the_package(own_run, monkeypatch):
    forget_the_package(monkeypatch)
    own_run(RELATIVE).build("layers.LayerNorm", 4)
    assert importlib.import_module("student.masks")
