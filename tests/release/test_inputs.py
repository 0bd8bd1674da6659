"""What an instructor provides: mistakes in it are told before the gates, by file and line; and what becomes of it."""

from collections.abc import Callable

import pytest

from release.__main__ import main
from release.build import Project, make_release

TRAIN, DEV, SOURCES = (f"data/corpus/fren.{name}" for name in ("train.bpe", "dev.bpe", "test.src.bpe"))
REFERENCES = "data/private/fren.test.bpe"
ROOM = "autograder/assignment"
TESTS = f"{ROOM}/tests"
TABLE = f"{TESTS}/test_table.py"
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


@pytest.mark.parametrize("line", ["un chien\ta dog", "|||a dog"])
@pytest.mark.parametrize("path", [TRAIN, REFERENCES])
def test_a_line_that_is_no_pair(path, line, project, problems) -> None:
    added = {path: line, **({SOURCES: line.partition("|||")[0]} if path == REFERENCES else {})}
    for name, text in added.items():
        file = project.root / name
        file.write_text(f"{file.read_text()}{text}\n")
    assert problems() == [f"{path}:2: is no pair; expected `source|||target`"]


@pytest.mark.parametrize(
    ("path", "content", "says"),
    [
        (DEV, b"", f"{DEV}: is empty; expected lines `source|||target`"),
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


def test_a_task_and_a_rubric_item_without_a_test(project, problems, edit) -> None:
    component = 'components = ["attention.scaled_dot_product_attention"]\n'
    items = 'items = [{ name = "middle", weight = 2 }]\n'
    edit(project.root / ROOM / "assignment.toml", component, component + items)
    edit(project.root / TABLE, "mark.task_1_2", "mark.task_7_7")
    edit(project.root / TESTS / "conftest.py", "task_1_2", "another")
    assert problems() == [
        f"{TESTS}/: no test is marked task_1_2, for task 1.2; "
        "write one in a file with `pytestmark = pytest.mark.task_1_2`",
        f"{TESTS}/: no test names the rubric item 'middle' of task 1.2; "
        "write one marked `@pytest.mark.item('middle')`, or remove the item",
    ]


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
