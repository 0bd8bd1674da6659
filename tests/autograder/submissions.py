"""Submissions made of the reference."""

from pathlib import Path

from foundation.assignment_file import Task
from foundation.places import REFERENCE

MODEL = ("embedding", "attention", "layers", "model", "masks", "train", "decode")
GRADED = (*MODEL, "own_tests", "understanding", "hunts")


def points_of(task: Task) -> float:
    """What a task gives to whoever does everything but what is a bonus."""
    return 0.0 if task.understanding else task.points


def write_submission(folder: Path, *changes: tuple[str, str, str], modules: tuple[str, ...] = GRADED) -> Path:
    """The reference's graded files, some of them changed: module, old text, new text."""
    folder.mkdir()
    for module in modules:
        text = (REFERENCE / f"{module}.py").read_text(encoding="utf-8")
        for name, old, new in changes:
            if name == module:
                assert text.count(old) == 1, old
                text = text.replace(old, new)
        (folder / f"{module}.py").write_text(text, encoding="utf-8")
    return folder
