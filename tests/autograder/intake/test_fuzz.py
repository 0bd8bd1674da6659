"""Whatever the bytes, a submission is taken in or refused with one line: never another exception."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.intake.names import find_internals
from autograder.intake.sources import IntakeError
from autograder.intake.submission import Intake, take_in
from foundation.assignment_file import read_assignment
from foundation.places import SKELETON

from .conftest import LAYERS, answer, as_notebook, code


def valid_zip() -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("student/layers.py", LAYERS * 20)
        archive.writestr("student/translations.txt", "a b c\n" * 50)
        archive.writestr("student/notes/", "")
    return raw.getvalue()


NOTEBOOK = as_notebook([code("%time\nimport torch\nx = 1"), answer(LAYERS, "task_1_4"), code("def f(:")])


def check(path: Path, content: bytes) -> Intake | None:
    """Takes some bytes in; what comes of it can be graded, shown and searched."""
    path.write_bytes(content)
    try:
        intake = take_in(path, SKELETON, read_assignment())
    except IntakeError as error:
        assert "\n" not in str(error) and str(error).startswith(f"{path.name}: ")
        return None
    json.dumps([intake.sources, intake.notes, intake.hashes]).encode()
    for _, text in intake.sources.values():
        text.encode()
    find_internals(intake.sources, intake.submitted, read_assignment().contract.forbidden, intake.release)
    return intake


@pytest.mark.parametrize("name, start", [("anna.zip", valid_zip()), ("anna.ipynb", NOTEBOOK)])
@given(changes=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=6), cut=st.data())
def test_damaged_submissions(name, start, changes, cut, tmp_path):
    content = bytearray(start)
    for place, value in changes:
        content[place % len(content)] = value
    check(tmp_path / name, bytes(content[: cut.draw(st.integers(0, len(content)))]))
    check(tmp_path / name, bytes(content))


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
names = st.text(max_size=8)
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner))
marks = st.fixed_dictionaries({}, optional=dict.fromkeys(("grade_id", "solution", "locked", "grade"), anything))
sources = {"source": anything | st.lists(st.text(max_size=20)), "metadata": st.fixed_dictionaries({"nbgrader": marks})}
cells = st.fixed_dictionaries({"cell_type": st.just("code") | anything}, optional=sources)


@given(cells=anything | st.lists(cells | anything, max_size=4), more=st.dictionaries(st.text(max_size=4), anything))
def test_any_json(cells, more, tmp_path):
    check(tmp_path / "anna.ipynb", json.dumps({**more, "cells": cells}).encode())
