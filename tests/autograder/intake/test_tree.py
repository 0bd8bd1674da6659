"""Whatever the bytes, a submission is taken in or refused with one line, and nothing is written to disk."""

import json
import os
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.intake import tree
from autograder.intake.names import find_internals
from autograder.intake.sources import IntakeError
from autograder.intake.submission import Intake, take_in
from autograder.intake.tree import MAX_ARCHIVE_BYTES
from foundation.assignment_file import read_assignment
from foundation.places import SKELETON
from foundation.whole_files import make_zip

from .conftest import LAYERS, answer, as_notebook, code, reason, take

FILES = [("anna/layers.py", LAYERS), ("anna/r\u00e9sum\u00e9.txt", "x" * 2_000), ("anna/translations.txt", "a\n")]
LISTED = b"PK\x01\x02"


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/passwd", "..\\outside.txt"])
def test_what_leads_elsewhere_is_skipped_and_never_unpacked(write_zip, tmp_path, name):
    intake = take(write_zip([(name, "1/0"), *FILES]))
    assert intake.submitted == {"layers"} and [note for note in intake.notes if note.startswith("skipped: ")]
    assert [path.name for path in tmp_path.iterdir()] == ["anna.zip"]


def test_a_path_that_is_too_long_is_skipped(pack, monkeypatch):
    folder = pack({"layers.py": LAYERS})
    monkeypatch.chdir(folder)
    while len(os.getcwd()) < 3_900:  # noqa: PTH109  as the system has it
        os.mkdir("d" * 50)  # noqa: PTH102
        os.chdir("d" * 50)
    with open("f" * 250, "w"):  # noqa: PTH123
        pass
    assert take(folder).submitted == {"layers"}


BAD = {  # members, and why the submission is refused
    "up": ([("../layers.py", LAYERS)], "leads out of the archive"),
    "up, behind a backslash": ([("..\\layers.py", LAYERS)], "leads out of the archive"),
    "absolute in Windows": ([("C:\\student\\layers.py", LAYERS)], "leads out of the archive"),
    "a pipe": (
        [("layers.py", "", {"external_attr": (stat.S_IFIFO | 0o777) << 16})],
        "'layers.py': it is no ordinary file; hand in ordinary",
    ),
    "there twice": ([("./layers.py", LAYERS), ("layers.py", LAYERS)], "'layers.py': it is there twice; keep one"),
}


@pytest.mark.parametrize("members, words", BAD.values(), ids=BAD)
def test_what_is_used_must_be_harmless(write_zip, members, words):
    assert words in reason(write_zip(members))


def test_a_size_that_a_zip_claims(write_zip):
    path = write_zip([("masks.py", ""), ("layers.py", b"")])
    content = bytearray(path.read_bytes())
    at = content.rindex(LISTED) + 20
    content[at : at + 8] = (10**9).to_bytes(4, "little") * 2
    path.write_bytes(content)
    assert "'layers.py': it has 1,000,000,000 bytes" in reason(path)


def test_too_large_or_too_many_to_be_listed(write_zip, monkeypatch):
    monkeypatch.setattr(tree, "MAX_ENTRIES", 10)
    path = write_zip([("layers.py", LAYERS)])
    path.write_bytes(path.read_bytes() + LISTED * 41)
    assert "more than 10 entries" in reason(path)
    with path.open("wb") as file:
        file.truncate(MAX_ARCHIVE_BYTES + 1)
    assert f"it has {MAX_ARCHIVE_BYTES + 1:,} bytes, and at most {MAX_ARCHIVE_BYTES:,}" in reason(path)


def test_a_zip_that_is_cut_off_or_damaged(write_zip):
    path = write_zip([("layers.py", LAYERS), ("attention.py", LAYERS * 100)], zipfile.ZIP_STORED)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"class LayerNorm", b"class layerNorm"))
    assert "it is damaged, encrypted or" in reason(path), "by its checksum"
    for length in range(5, len(content) - 1, 97):
        path.write_bytes(content[:length])
        assert "damaged or cut off" in reason(path)


def test_encryption_and_odd_methods(write_zip):
    path = write_zip([("layers.py", LAYERS)])
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (LISTED, 8)):
        content[content.index(signature) + offset] = 1
    path.write_bytes(content)
    assert "'layers.py': it is damaged, encrypted or" in reason(path)
    assert "not compressed by deflate; pack it again" in reason(write_zip([("layers.py", LAYERS)], zipfile.ZIP_BZIP2))


ZIP = make_zip({"student/layers.py": LAYERS.encode() * 20, "student/translations.txt": b"a b c\n" * 50})
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


@pytest.mark.parametrize("name, start", [("anna.zip", ZIP), ("anna.ipynb", NOTEBOOK)])
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
