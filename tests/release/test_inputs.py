"""What an instructor provides: mistakes in it are told before the gates, by file and line; and what becomes of it."""

from collections.abc import Callable

import pytest

from release.__main__ import main
from release.build import Project, make_release

TRAIN, DEV, SOURCES = (f"data/corpus/fren.{name}" for name in ("train.bpe", "dev.bpe", "test.src.bpe"))
REFERENCES = "data/private/fren.test.bpe"
ROOM = "autograder/assignment"
LATIN = "é".encode("latin-1")


@pytest.fixture
def problems(project: Project, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """The problems that stop a build, which writes nothing."""

    def build(*arguments: str) -> list[str]:
        assert main(["build", "--root", str(project.root), *arguments]) == 2
        out, err = capsys.readouterr()
        *found, last = err.splitlines()
        assert not out and last.startswith("release: stopped") and not (project.root / "dist").exists()
        return found

    return build


@pytest.mark.parametrize(
    ("path", "content", "says"),
    [
        (DEV, b"a|||b\nun chien\ta dog\n", f"{DEV}:2: is no pair; expected `source|||target`"),
        (TRAIN, b"one|||two\n" + LATIN, f"{TRAIN}:2: is not UTF-8"),
        (REFERENCES, b"the cat .\nthe dog .\n", f"{REFERENCES}: has 2 lines, but {SOURCES} has 1; each line needs"),
        (f"{ROOM}/handout.md", b"it costs $5\n", "handout.md:1: $5 stands for nothing; write $$ for a dollar sign"),
    ],
)
def test_a_damaged_file_is_one_line(path: str, content: bytes, says: str, project, problems) -> None:
    (project.root / path).write_bytes(content)
    (problem,) = problems()
    assert problem.startswith(says)


@pytest.mark.parametrize(
    ("path", "content"),
    [(REFERENCES, b"the cow is eating .\n"), (TRAIN, "un\u2028chat\x85|||a cat\r\nun|||a\n".encode())],
)
def test_references_without_sources_and_odd_white_space_are_fine(path: str, content: bytes, project) -> None:
    (project.root / path).write_bytes(content)
    assert "dist/student.zip" in make_release(project).outputs


def test_a_wrong_folder_or_assignment_is_one_line(project, problems, edit) -> None:
    (problem,) = problems("--reference", "nowhere")
    assert problem.endswith("nowhere: no files there; name the folder with --reference")
    edit(project.root / ROOM / "assignment.toml", 'number = "1.1"', "number = 1")
    (problem,) = problems()
    assert "assignment.toml: task 1" in problem


def test_the_handout_names_every_task_and_rounds_no_threshold(project, example_release, edit) -> None:
    handout = example_release.folder["README.md"].decode()
    assert "| 1.1 | Scaled table | 4 |  |  | `student/table.py` |" in handout
    assert "0.30" in handout and "| E.1 | Diagonal mask | none |" in handout and "$" not in handout
    edit(project.root / ROOM / "assignment.toml", "= 0.30", "= 0.255")
    edit(project.root / ROOM / "assignment.toml", '"Scaled table"', '"Scaled | table"')
    handout = make_release(project).folder["README.md"].decode()
    assert "for at least 0.255 (" in handout and "| 1.1 | Scaled \\| table | 4 |" in handout
