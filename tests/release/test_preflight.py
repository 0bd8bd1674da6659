"""What an instructor provides beside the reference: mistakes in it are told before the gates, by file and line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from release.__main__ import main
from release.build import Project
from release.preflight import MOST

TRAIN, DEV, SOURCES = (f"data/corpus/fren.{name}" for name in ("train.bpe", "dev.bpe", "test.src.bpe"))
REFERENCES = "data/private/fren.test.bpe"
TESTS = "autograder/assignment/tests"


@pytest.fixture
def problems(project: Project, capsys: pytest.CaptureFixture[str]) -> Callable[[], list[str]]:
    """The problems that stop a build, which writes nothing."""

    def build() -> list[str]:
        assert main(["build", "--root", str(project.root)]) == 2
        *found, last = capsys.readouterr().err.splitlines()
        assert last.startswith("release: stopped") and not (project.root / "dist").exists()
        return found

    return build


def change(project: Project, path: str, old: str, new: str) -> None:
    file: Path = project.root / path
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("line", ["un chien\ta dog", "un chien", "un|||chien|||a dog", "|||a dog", "un chien||| "])
@pytest.mark.parametrize("path", [TRAIN, DEV, REFERENCES])
def test_a_line_that_is_no_pair(path, line, project, problems) -> None:
    with (project.root / path).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    if path == REFERENCES:
        with (project.root / SOURCES).open("a", encoding="utf-8") as file:
            file.write(f"{line.partition('|||')[0]}\n")
    assert problems() == [f"{path}:2: is no pair; expected `source|||target`"]


def test_many_lines_that_are_no_pairs_are_counted(project, problems) -> None:
    (project.root / TRAIN).write_text("no pair\n" * (MOST + 8))
    assert problems()[-1] == f"{TRAIN}:{MOST + 1}: is no pair, nor are 7 lines below; make the file anew"


def test_an_empty_file_and_one_that_is_not_utf_8(project, problems) -> None:
    (project.root / DEV).write_text("")
    assert problems() == [f"{DEV}: is empty; expected lines `source|||target`"]
    (project.root / TRAIN).write_bytes("été|||summer\n".encode("latin-1"))
    assert problems()[0].startswith(f"{TRAIN}:1: is not UTF-8")


def test_references_of_other_sentences(project, problems) -> None:
    change(project, REFERENCES, "la v@@ ache", "le ch@@ at")
    assert problems() == [f"{REFERENCES}:1: is about another sentence than line 1 of {SOURCES}; make both anew"]
    (project.root / REFERENCES).write_text("the cat .\nthe dog .\n")
    assert problems()[0].startswith(f"{REFERENCES}: has 2 lines, but {SOURCES} has 1; each line needs the reference")


def test_references_without_their_sources_are_fine(project, capsys) -> None:
    (project.root / REFERENCES).write_text("the cow is eating .\n")
    assert main(["build", "--root", str(project.root)]) in (0, 1)
    assert "stopped" not in capsys.readouterr().err


def test_a_test_of_a_task_that_is_gone_and_a_task_without_a_test(project, problems) -> None:
    change(project, f"{TESTS}/test_table.py", "mark.task_1_2", "mark.task_7_7")
    change(project, f"{TESTS}/conftest.py", "task_1_2", "another")
    assert problems() == [
        f"{TESTS}/: no test is marked task_1_2, for task 1.2; "
        "write one in a file with `pytestmark = pytest.mark.task_1_2`",
        f"{TESTS}/test_table.py:15: is marked task_7_7, but assignment.toml has no such task; "
        "correct the mark, or remove the test",
    ]


def test_a_test_that_is_no_python(project, problems) -> None:
    (project.root / TESTS / "test_table.py").write_text("def f(:\n")
    assert problems()[0] == f"{TESTS}/test_table.py:1: is not valid Python (invalid syntax); it has to be valid Python"


def test_what_is_missing_is_told_first(project, problems) -> None:
    (project.root / TRAIN).unlink()
    (project.root / DEV).write_text("no pair\n")
    assert problems() == [f"{TRAIN}: does not exist; make the corpus: python -m data generate"]


def test_only_a_line_feed_ends_a_line(project, capsys) -> None:
    with (project.root / TRAIN).open("a", encoding="utf-8", newline="") as file:
        file.write("un\u2028chat\x85|||a cat\r\n")
    assert main(["build", "--root", str(project.root)]) in (0, 1)
    assert "stopped" not in capsys.readouterr().err
