"""One zygote for all tests: a worker is forked from it for each submission."""

from pathlib import Path

import pytest

from autograder.assignment import read_assignment
from autograder.grading import grade
from autograder.intake import take_in
from autograder.sandbox import Zygote

ROOT = Path(__file__).resolve().parents[2]
REFERENCE, SKELETON = ROOT / "reference", ROOT / "student"


@pytest.fixture(scope="session")
def zygote():
    with Zygote("auto") as made:
        yield made


@pytest.fixture
def grade_folder(zygote, tmp_path):
    """Grades a folder against four reference lines."""
    references = tmp_path / "test.bpe"
    references.write_text("".join(f"a|||the cat number {i} sleeps on the mat .\n" for i in range(4)))

    def run(folder, **options):
        intake = take_in(folder, SKELETON)
        return grade(intake, options.pop("assignment", read_assignment()), references, zygote=zygote, **options)

    return run


@pytest.fixture
def copy_reference(tmp_path):
    """A folder with the reference's graded files, some of them changed: module -> (old text, new text)."""

    def copy(changes=None, modules=("embedding", "attention", "layers", "model", "masks", "train", "decode")):
        folder = tmp_path / "submission"
        folder.mkdir()
        for module in modules:
            text = (REFERENCE / f"{module}.py").read_text()
            if module in (changes or {}):
                old, new = changes[module]
                assert text.count(old) == 1
                text = text.replace(old, new)
            (folder / f"{module}.py").write_text(text)
        return folder

    return copy
