"""`python -m autograder demo`: a sample class, as Canvas delivers it, from its download to its class page."""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import shutil
from pathlib import Path

from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.places import REFERENCE, TEST_REFERENCES
from foundation.whole_files import make_folder

from ..course.catalogue import apply, faults_of
from ..grading.scoring import read_references, undo_bpe
from ..intake.sources import Sources, read_modules
from ..reports.exports import as_zip
from .arguments import Commands, add_command

DOWNLOAD, GRADEBOOK = "submissions", "gradebook.csv"
BEGUN = ("embedding", "attention")
"""The modules of most students: what is not written takes no time to grade."""
LEAVES = (
    "\n\nimport os\n\nos.environ['HOME'] = '/'\nos._exit(0)  # would end a grader that runs in one process with it\n"
)


def add_commands(commands: Commands) -> None:
    """The command and its flags."""
    parser = add_command(commands, "demo", demo, "--output build/demo", ("jobs",))
    parser.add_argument("--output", type=Path, default=Path("demo"), help="default: demo")


def demo(options: argparse.Namespace) -> int:
    """Grade a sample class of six, to see what you get.

    Make a class of six in the layout of Canvas's download: correct, faulty, an unfinished notebook, damaged, hostile, a
    late copy in disguise. Grade it, and compare the submissions. Everything goes into one folder, which is made anew;
    the commands are shown as you would type them.
    """
    from ..__main__ import main

    folder = options.output
    if folder.exists() and not (folder / GRADEBOOK).is_file() and any(folder.iterdir()):
        raise UserError(f"--output {folder}: it is not empty, and no demo; name another folder")
    shutil.rmtree(folder, ignore_errors=True)
    students = make_class(read_assignment())
    write_download(folder, students)
    marks = folder / "marks"
    download = [str(folder / DOWNLOAD), "--roster", str(folder / GRADEBOOK)]
    for words in (
        ["list-class", *download],
        ["grade-class", *download, "--output", str(marks), "--jobs", str(options.jobs)],
        ["similar", *download, "--output", str(marks)],
    ):
        print(f"\n$ python -m autograder {' '.join(words)}", flush=True)
        if main(words) not in (0, 1):  # 1: a damaged archive waits for a person
            return 1
    print(f"\nlook at {marks / 'class.html'} and {marks / 'similar.html'} in a browser; what each submission is about:")
    for name, about, _ in students:
        print(f"  {name:16} {about}")
    return 0


Student = tuple[str, str, dict[str, bytes] | bytes]
"""Name, what the submission shows, and its files; bytes are a whole archive."""


def make_class(assignment: Assignment) -> list[Student]:
    """The class of six."""
    bonus = {part.partition(".")[0] for task in assignment.tasks if task.understanding for part in task.components}
    names = [name for name in assignment.contract.modules if name not in bonus]
    whole = {name: source for name, source in read_modules(REFERENCE).items() if name in names}
    begun = {name: whole[name] for name in BEGUN}
    [fault] = (fault for fault in faults_of(assignment) if fault.id == "attention-not-scaled")
    # All share the reference's code, which is common knowledge; Ben writes `this`, so that there is something to copy.
    scaled = apply(fault, begun | {"layers": whole["layers"]})
    of_ben = {name: (path, re.sub(r"\bself\b", "this", text)) for name, (path, text) in scaled.items()}
    copied = {name: (path, disguise(text)) for name, (path, text) in of_ben.items()}
    path, text = begun["attention"]
    archive = as_zip(packed(begun))
    return [
        ("Amina Right", "everything right", packed(whole) | translations(0.2)),
        ("Ben Scale", "half of it; scores are not divided by sqrt(d_k)", packed(of_ben) | translations(0.3)),
        ("Eva Notebook", "the first three tasks in a Jupyter notebook", notebook(begun)),
        ("Hugo Damaged", "an archive that was cut off: a person decides", archive[: len(archive) // 2]),
        ("Ines Hostile", "ends the grader's process", packed(begun | {"attention": (path, text + LEAVES)})),
        ("Jan Copy", "Ben's code with other names and without comments, and late", packed(copied)),
    ]


def packed(modules: Sources) -> dict[str, bytes]:
    """The modules as files of the folder `student`."""
    return {f"student/{name}.py": text.encode() for name, (_, text) in modules.items()}


def translations(share_wrong: float) -> dict[str, bytes]:
    """Translations that a model might have made: the references, without this share of their words."""
    if not TEST_REFERENCES.is_file():
        raise UserError(f"{TEST_REFERENCES}: no such file; `make data` writes it")
    chance = random.Random(share_wrong)  # noqa: S311  draws samples
    lines = [undo_bpe(reference).split() for reference in read_references(TEST_REFERENCES)]
    kept = (" ".join(word for word in line if chance.random() > share_wrong) or "." for line in lines)
    return {"translations.txt": "".join(f"{line}\n" for line in kept).encode()}


def notebook(modules: Sources) -> dict[str, bytes]:
    """A notebook with one cell for each module; its names are all in one place, so nothing is imported relatively."""
    cells = [
        {"cell_type": "code", "source": re.sub(r"^( *)from \.\w* import .*", r"\1pass", text, flags=re.MULTILINE)}
        for _, text in modules.values()
    ]
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    return {"transformer.ipynb": json.dumps(content).encode()}


def disguise(text: str) -> str:
    """The same code without comments, in another layout, and with other names inside functions."""
    other = ast.unparse(ast.parse(text))
    for old, new in {"scores": "energies", "weights": "alphas", "centred": "shifted", "variance": "spread"}.items():
        other = re.sub(rf"(?<![.\w]){old}(?!\w|=)", new, other)
    return other


def write_download(folder: Path, students: list[Student]) -> None:
    """Writes the submissions and the gradebook, named as Canvas does."""
    make_folder(folder / DOWNLOAD)
    rows = ["Student,ID,SIS User ID,SIS Login ID,Section,Transformer (7)", "    Points Possible,,,,,90"]
    for number, (name, about, files) in enumerate(students, 1):
        first, last = name.split()
        late = "LATE_" * about.endswith("late")
        content = files if isinstance(files, bytes) else as_zip(files)
        path = folder / DOWNLOAD / f"{last.lower()}{first.lower()}_{late}{number}_{700 + number}_hand_in.zip"
        path.write_bytes(content)
        rows.append(f'"{last}, {first}",{number},s{number},{first.lower()},Lecture,')
    (folder / GRADEBOOK).write_text("\n".join(rows) + "\n", encoding="utf-8")
