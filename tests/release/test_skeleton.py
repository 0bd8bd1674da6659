"""All passes over a folder."""

import ast

import pytest

from release.problems import ReleaseError
from release.skeleton.build import make_skeleton, read_folder
from release.skeleton.source import read_source


def test_the_example_is_stripped(skeleton, reference_files) -> None:
    assert sorted(skeleton.files) == ["__init__.py", "mean.py", "table.py"]
    assert skeleton.files["__init__.py"] == reference_files["__init__.py"]
    table = skeleton.files["table.py"].decode()
    assert "import math" not in table and "import random" not in table
    assert "from .mean import weighted_mean\n" in table
    assert table.count("raise NotImplementedError") == 2
    assert "SOLUTION" not in skeleton.files["mean.py"].decode()


def test_docstrings_and_given_lines_stay(skeleton, reference_files) -> None:
    for path, content in skeleton.files.items():
        before, after = reference_files[path].decode().splitlines(), content.decode().splitlines()
        solutions = set()
        for region in skeleton.regions[path]:
            solutions |= set(range(region.begin, region.end + 1))
        imports = {
            line
            for node in ast.walk(ast.parse(reference_files[path]))
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for line in range(node.lineno, node.end_lineno + 1)
        }
        given = [
            line for number, line in enumerate(before, start=1) if number not in solutions | imports and line.strip()
        ]
        assert [line for line in after if line in set(given)] == given


def test_every_problem_of_every_file_is_reported(reference_files, assignment) -> None:
    broken = dict(reference_files)
    broken["mean.py"] = broken["mean.py"].replace(b"### END SOLUTION", b"### END SOLUTON", 1)
    broken["table.py"] = broken["table.py"].replace(b"# TODO 1.1:", b"# TODO 9.9:", 1)
    broken["new.py"] = b"def f(:\n"
    broken["latin.py"] = b"# caf\xe9\n"
    broken["notes.txt"] = b"notes"
    with pytest.raises(ReleaseError) as caught:
        make_skeleton(broken, assignment, "reference")
    files = {problem.path for problem in caught.value.problems}
    assert files == {f"reference/{name}" for name in ("mean.py", "table.py", "new.py", "latin.py", "notes.txt")}
    assert "reference/new.py:1: is not valid Python" in str(caught.value)


def test_translations_of_the_instructor_are_not_shipped(reference_files, assignment, skeleton) -> None:
    more = {**reference_files, "translations.txt": b"the cat\n"}
    assert make_skeleton(more, assignment, "reference").files == skeleton.files


def test_a_task_without_a_region_is_a_problem(reference_files, assignment) -> None:
    less = dict(reference_files)
    less["mean.py"] = b"def weighted_mean(): ...\ndef dot(): ...\n"
    with pytest.raises(ReleaseError, match=r"task 1\.2 \(attention\) has no `# TODO 1\.2:` region"):
        make_skeleton(less, assignment, "reference")


def test_stripping_the_skeleton_stops(skeleton, assignment) -> None:
    """Its hints have no solutions below them: a skeleton is never mistaken for a reference."""
    with pytest.raises(ReleaseError, match="without a solution below it"):
        make_skeleton(skeleton.files, assignment, "student")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xef\xbb\xbfx = 1\n", "utf-8-sig"),
        (b"# coding: latin-1\n", "iso-8859-1"),
        (b"x = 1\ry = 2\n", "carriage return"),
        (b"\xff", "not UTF-8"),
        (b"x = '''\n", "not valid Python"),
        (b"x = 1\x00\n", "not valid Python"),
        (b"def f():\n    x = 1\n    BEGIN SOLUTION\n", "if a marker is meant"),
    ],
)
def test_files_that_cannot_be_read(content: bytes, says: str) -> None:
    with pytest.raises(ReleaseError, match=says):
        read_source("a.py", content)


def test_caches_and_hidden_files_are_no_part_of_a_folder(tmp_path) -> None:
    for name in ("a.py", "sub/b.py", "__pycache__/a.pyc", ".hidden", "runs/latest/best.pt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    assert list(read_folder(tmp_path)) == ["a.py", "sub/b.py"]
