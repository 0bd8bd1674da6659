"""Stripping: the raise statement stands for the solution, imports of the solution go, all else stays byte for byte."""

import pytest

from release.regions import ReleaseError, find_regions
from release.skeleton import drop_unused_imports, make_skeleton, strip_regions


def stripped(source) -> str:
    return strip_regions(source, find_regions(source, ("1.1", "1.3")))


def test_the_solution_becomes_a_raise_below_its_hint(read) -> None:
    source = read('''
        def f(x):
            """Doubles."""
            given = 1
            # TODO 1.3: double it,
            # and return it.
            ### BEGIN SOLUTION
            y = x * 2
            return y
            ### END SOLUTION
            after = 2  # given
    ''')
    assert stripped(source) == (
        '\ndef f(x):\n    """Doubles."""\n    given = 1\n    # TODO 1.3: double it,\n    # and return it.\n'
        '    raise NotImplementedError("TODO 1.3")\n    after = 2  # given\n'
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_newlines_stay_as_they_are(read, newline: str, last: str) -> None:
    text = 'X = """a\n\tb"""\n\x0c\ndef f():\n    # TODO 1.1: t\n    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION'
    expected = 'X = """a\n\tb"""\n\x0c\ndef f():\n    # TODO 1.1: t\n    raise NotImplementedError("TODO 1.1")'
    assert stripped(read((text + last).replace("\n", newline))) == (expected + last).replace("\n", newline)


def test_the_example_is_stripped(skeleton, reference_files) -> None:
    assert sorted(skeleton.files) == ["__init__.py", "mean.py", "table.py"]
    assert skeleton.files["__init__.py"] == reference_files["__init__.py"]
    table = skeleton.files["table.py"].decode()
    assert "import math" not in table and "import random" not in table
    assert "from .mean import weighted_mean\n" in table
    assert table.count("raise NotImplementedError") == 2
    assert "SOLUTION" not in skeleton.files["mean.py"].decode()


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


def test_a_task_without_a_region_is_a_problem(reference_files, assignment) -> None:
    with pytest.raises(ReleaseError, match=r"task 1\.2 \(attention\) has no `# TODO 1\.2:` region"):
        make_skeleton({**reference_files, "mean.py": b"def dot(): ...\n"}, assignment, "reference")


UNCHANGED = {
    "still used": "import os\nos.b()\n",
    "in a text annotation": 'from a import B\ndef f(x) -> "list[B]": ...\n',
    "asks whether it can be imported": "try:\n    import a\nexcept ImportError:\n    b = None\n",
}
IMPORTS = {
    **{name: (text, text) for name, text in UNCHANGED.items()},
    "one name": ("import os\nimport sys\nsys.exit()\n", "import sys\nsys.exit()\n"),
    "one of a list": ("from a import b, c as d, e\nb(), e()\n", "from a import b, e\nb(), e()\n"),
    "in a function": ("def f():\n    import a\n", "def f():\n    pass\n"),
    "a paragraph": ('"""Doc."""\n\nimport a\n\nimport b\n\n\nx = b\n', '"""Doc."""\n\nimport b\n\n\nx = b\n'),
    "the last paragraph": ('"""Doc."""\n\nimport a\n\n\nx = 1\n', '"""Doc."""\n\n\nx = 1\n'),
}


def test_imports_that_only_the_solution_used_go() -> None:
    once = drop_unused_imports({f"{number}/a.py": text for number, (text, _) in enumerate(IMPORTS.values())})
    assert dict(zip(IMPORTS, once.values(), strict=True)) == {name: expected for name, (_, expected) in IMPORTS.items()}
    assert drop_unused_imports(once) == once
