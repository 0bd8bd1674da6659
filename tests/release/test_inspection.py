"""Every fault that reading a release finds: solutions in every disguise and place, private data, dropped tasks."""

import base64
import hashlib
import json
import lzma
import marshal
import re
import textwrap
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from foundation.assignment_file import read_assignment
from foundation.places import ROOT, term_secret
from foundation.whole_files import make_zip
from release.build import Project, Release, make_package
from release.inspection import keeps_private, no_solution_survives, nothing_is_opaque, places_of_dropped_tasks
from release.leaks import LeakFinder
from release.legible import opaque_in
from release.packing import make_wheel

from .conftest import EXAMPLE, edit

CODE = (EXAMPLE / "reference" / "affine.py").read_text()
LINE = "return x @ self.weight + self.bias"
PACKED = zlib.compress(CODE.encode())
RENAMED = re.sub(r"\b(weight|bias|d_in|d_out)\b", r"other_\1", CODE)
COMPILED = marshal.dumps(compile(CODE, "", "exec"))


def b64(content: bytes | str) -> str:
    return base64.b64encode(content.encode() if isinstance(content, str) else content).decode()


def locked(text: str, key: bytes = b"the result of a right model") -> str:
    """The lock that hunts once had: compressed, encrypted, in base 85."""
    packed = zlib.compress(text.encode(), 9)
    stream = hashlib.shake_256(key).digest(len(packed))
    return base64.b85encode(bytes(a ^ b for a, b in zip(packed, stream, strict=True))).decode()


def notebook(source: str = "x = 1\n", outputs: object = (), **metadata: object) -> bytes:
    cell = {"cell_type": "code", "source": source.splitlines(keepends=True), "outputs": list(outputs), "id": "a"}
    cells = [{**cell, "metadata": metadata, "execution_count": None}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()


def cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


LAYOUTS: dict[str, Callable[[str], str]] = {
    "as text": str,
    "commented out": lambda code: textwrap.indent(code, "# "),
    "in a docstring": lambda code: f'def f():\n    """Doc.\n\n{code}    """\n',
    "as an escaped string": lambda code: f"X = {code!r}\n",
    "without newlines": lambda code: "; ".join(line.strip() for line in code.splitlines()),
    "exploded": lambda code: code.replace("nn.Parameter(", "(\n    nn . Parameter(\n").replace(")\n", ",\n    )\n)\n"),
}
A, OPAQUE, COPY = "given/a.py", "nobody can read", "a copy of reference/affine.py:"
OTHER = "differs from the repository's file"
DISGUISES: dict[str, tuple[str, bytes | str, str]] = {
    "hunts as they were": ("assignment/hunts.packed", locked(CODE), OPAQUE),
    "of no kind": ("assignment/hunts.packed", "x = 1", "is of no kind that students get"),
    "locked in a string of TOML": ("component_tests/rows.toml", f'[box]\nkey = "{locked(CODE)}"\n', OPAQUE),
    "locked in lines of a comment": (A, "x = 1\n# " + "\n# ".join(cut(locked(CODE), 20)), OPAQUE),
    "locked in a notebook's picture": ("1.ipynb", notebook(outputs=[{"data": {"image/png": locked(CODE)}}]), OPAQUE),
    "renamed in a notebook": ("1.ipynb", notebook(RENAMED), COPY),
    "base 64 in a notebook's output": ("1.ipynb", notebook(outputs=[{"text": [b64(LINE)]}]), OPAQUE),
    "base 32 in a notebook's metadata": ("1.ipynb", notebook(note=base64.b32encode(PACKED).decode()), OPAQUE),
    "a data file of a wheel": ("b.whl", make_wheel({"autograder/a.txt": locked(CODE).encode()}, "1.0"), OPAQUE),
    "an archive in an archive": ("b.zip", make_zip({"c.zip": make_zip({"d.txt": CODE.encode()})}), COPY),
    "a picture that is none of ours": ("a.svg", f"<svg><desc>{CODE}</desc></svg>", OTHER),
    "locked in a picture": ("a.svg", f"<svg><desc>{locked(CODE)}</desc></svg>", OPAQUE),
    "embedded in a page": ("guide.html", f"<img src='data:image/svg+xml;base64,{b64(CODE)}'>", OPAQUE),
    "base 85 of lzma": ("README.md", base64.b85encode(lzma.compress(CODE.encode())).decode(), OPAQUE),
    "digits with spaces": (A, f"X = '{locked(CODE).encode().hex(' ')}'", OPAQUE),
    "marshal as bytes": (A, f"X = {COMPILED!r}", OPAQUE),
    "compiled": ("given/a.pyc", b"\xa7\r\r\n" + bytes(12) + COMPILED, "is not text"),
    "strings that are added": (A, f"X = {' + '.join(map(repr, cut(LINE, 5)))}", COPY),
    "strings that a cell adds": ("1.ipynb", notebook(f"x = {' + '.join(map(repr, cut(LINE, 5)))}"), COPY),
    "escapes": (A, "X = '" + "".join(f"\\x{ord(character):02x}" for character in LINE) + "'", COPY),
    "characters that cannot be seen": ("README.md", "".join(chr(0xE0000 + ord(c)) for c in LINE), OPAQUE),
    **{f"{layout}, as it is": ("a.md", hide(CODE), COPY) for layout, hide in LAYOUTS.items()},
    **{f"{layout}, renamed": ("a.md", hide(RENAMED), COPY) for layout, hide in LAYOUTS.items()},
    "another engine": ("b.whl", make_wheel({"autograder/testing/case.py": b"x"}, "1.0"), OTHER),
    "another skeleton": ("student/affine.py", "x = 1", "is not what the release has made of the reference"),
}


@pytest.mark.parametrize(("path", "content", "says"), DISGUISES.values(), ids=DISGUISES)
def test_a_disguised_solution_is_found(example: Project, example_release, path, content, says) -> None:
    members = {f"assignment/{path}": content.encode() if isinstance(content, str) else content}
    release = replace(example_release, outputs={"dist/student.zip": make_zip(members)})
    faults = nothing_is_opaque(example, release) + no_solution_survives(example, release)
    assert all(fault.startswith(f"dist/student.zip!assignment/{path}") for fault in faults), faults
    assert any(says in fault for fault in faults), faults


def test_a_release_passes(example: Project, example_release: Release) -> None:
    assert nothing_is_opaque(example, example_release) + no_solution_survives(example, example_release) == []


@pytest.mark.parametrize(
    "text",
    [
        f"sha256 = '{hashlib.sha256(CODE.encode()).hexdigest()}'",  # of a file that is handed out
        '["Which axis?", "000c1e 29ef71 2aba88 2b2106 447b8e 4d7431 5eb8a8 825d7c"]',  # a pattern: sorted
        "assignment/misconceptions/multi_head_attention.toml#multi-head-scaled-by-model",
        "le ch@@ at dort ici . ||| the cat sleeps here .\n" * 99,
        "-> `(batch, heads, queries, keys)`: Σ exp(QKᵀ/√d) · 1.0e-5 = 0.731 [0, 0, 0, 1]; " * 9,
        "class Regressor(nn.Module):\n    def forward(self, x: Tensor) -> Tensor:\n",  # given code
        "The second of two affine maps, after the tanh of the first one, squeezes x.",
        "total = sum(prices)\nif total == 0:\n    return None\n",
    ],
)
def test_what_can_be_read_and_is_no_solution_passes(example_release, text: str) -> None:
    assert not opaque_in("a.txt", text.encode(), {hashlib.sha256(CODE.encode()).hexdigest()})
    assert example_release.leak_finder.leaks_in("a.py", text.encode()) == []


def test_every_solution_of_the_course_is_found_again_and_each_statement_alone(example_release) -> None:
    made = make_package(Project(ROOT)).skeleton
    finder = LeakFinder(made)
    for source in made.sources.values():
        for region in source.regions:
            code = textwrap.dedent("".join(source.lines[region.begin : region.end - 1]))
            assert finder.leaks_in("a.md", textwrap.indent(code, "    ").encode()), region
    for line in (  # that were handed out once
        "scores = query @ key.mT / math.sqrt(query.size(-1))",
        "shares = restrict(query @ key.mT * (1 + query.size(-1) / 50), mask)",
        'read = model.encode(batch["src"], batch["encoder_mask"])[0]',
    ):
        assert finder.leaks_in("a.py", line.encode()), line
    for statement in (
        "self.second = Affine(d_hidden, 1)",
        "return self.second(torch.tanh(self.first(x))).squeeze(-1)",
        "y = nn.Parameter(torch.randn(d_in, d_out) / d_in**0.5)",  # in another statement
    ):
        assert example_release.leak_finder.leaks_in("a.py", statement.encode())


@pytest.mark.parametrize(
    ("archive", "path", "content", "says"),
    [
        ("student.zip", "assignment/data/private/x", b"x", "stays with the instructor"),
        ("student.zip", "assignment/given/extras/answers.py", b"x = 1", "stays with the instructor"),
        ("student.zip", "assignment/a.txt", b"the cow is eating over there .\n", "holds 1 lines of data/private/"),
        ("gradescope.zip", "reference/x.py", b"x = 1", "stays with the instructor"),
        ("gradescope.zip", "data/private/more.txt", b"x = 1\n", ""),
        ("instructor.zip", "instructor/tests/x.py", b"x = 1\n", ""),
    ],
)
def test_private_data_closes(example, doctored, archive: str, path: str, content: bytes, says: str) -> None:
    """The server gets private data, and the instructor all."""
    faults = keeps_private(example, doctored(archive=archive, **{path: content}))
    assert len(faults) == bool(says)
    assert all(says in fault and fault.startswith(f"dist/{archive}!{path}") for fault in faults)


def test_the_secret_stays_and_the_server_gets_no_solution(doctored, example: Project) -> None:
    note = {"assignment/note.txt": b"seeds follow from " + term_secret(example.root)}
    assert keeps_private(example, doctored(**note)) == ["dist/student.zip!assignment/note.txt: holds the term's secret"]
    faults = no_solution_survives(example, doctored(archive="gradescope.zip", **{"notes.md": LINE.encode()}))
    assert faults and all(fault.startswith("dist/gradescope.zip!notes.md:1: a copy of reference/") for fault in faults)


PLACES = {
    "2.3": {
        "reference/model.py",
        "notebooks/prose/2_layers_and_model.md",
        "assignment/misconceptions/encoder.toml",
        "assignment/tests/test_2_3_encoder_decoder.py",
        "docs/pictures/architecture.svg",
    },
    "E.2": {"given/flags.toml", "assignment/handout.md", "reference/answers.md"},
}


@pytest.mark.parametrize("number", PLACES)
def test_every_place_of_a_dropped_task_is_named(number: str) -> None:
    whole = read_assignment()
    assignment = replace(whole, tasks=tuple(task for task in whole.tasks if task.number != number))
    places = places_of_dropped_tasks(ROOT, assignment)
    assert PLACES[number] <= {line.partition(":")[0] for line in places}
    end = f": names task {number}, which is not in assignment.toml"
    shared = [line.partition(";")[2] for line in places if line.startswith("assignment/tests/test_2_3")]
    assert {*shared} == {f" keep what tests {'E.2' if number == '2.3' else '2.3'} there"}
    assert all(line.partition(";")[0].endswith(end) for line in places)
    for file, line, _ in (place.split(":", 2) for place in places):
        text = (ROOT / file).read_text().splitlines()[int(line) - 1]
        assert number in text or f"task_{number.replace('.', '_').lower()}" in text


def test_a_text_or_a_picture_that_is_shown_is_the_last_place(project: Project) -> None:
    pictures, handout = project.root / "docs" / "pictures", project.root / "assignment" / "handout.md"
    pictures.mkdir(parents=True)
    for name in ("shown.svg", "unused.svg"):
        (pictures / name).write_text("<text>model.py, task 2.3</text>")
    before = len(handout.read_text().splitlines())
    handout.write_text(f"{handout.read_text()}After task 2.4, look at this:\n![all](shown.svg)\n")
    assert places_of_dropped_tasks(project.root, read_assignment(project.root / "assignment")) == [
        "docs/pictures/shown.svg:1: names task 2.3, which is not in assignment.toml",
        f"assignment/handout.md:{before + 1}: names task 2.4, which is not in assignment.toml",
    ]


def test_a_release_stops_before_its_gates(project: Project, run) -> None:
    edit(project.root / "assignment" / "assignment.toml", 'number = "1.2"', 'number = "1.7"')
    status, out, err = run("build")
    *places, last = err.splitlines()
    assert (status, out, last) == (2, "", "release: stopped; nothing was written")
    assert {Path(place.partition(":")[0]).name for place in places} >= {"loss.py", "test_1_2_loss.py"}


def test_every_place_that_needs_a_file_of_tests_is_named(project: Project) -> None:
    (project.root / "assignment" / "tests" / "test_1_2_loss.py").unlink()
    places = places_of_dropped_tasks(project.root, read_assignment(project.root / "assignment"))
    assert [re.sub(r":\d+: ", ": ", place) for place in places] == [
        f"{file}: names task 1.2, of which no test is left in assignment/tests/: drop it, or test it"
        for file in ("assignment/assignment.toml", "assignment/misconceptions/loss.toml", "reference/loss.py")
    ]
