"""`python -m autograder demo`: a sample class, as Canvas delivers it, from its download to its class page."""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.places import REFERENCE, SKELETON, TEST_REFERENCES
from foundation.whole_files import make_folder

from ..course.catalogue import apply, faults_of
from ..grading.scoring import read_references, undo_bpe
from ..intake.sources import Sources, read_modules
from ..reports.exports import as_zip
from .arguments import Commands, add_command

DOWNLOAD, GRADEBOOK = "submissions", "gradebook.csv"
LEAVES = (
    "\n\nimport os\n\nos.environ['HOME'] = '/'\nos._exit(0)  # would end a grader that runs in one process with it\n"
)


def add_commands(commands: Commands, main: Callable[[list[str]], int]) -> None:
    """The command and its flags; it runs others by `main`."""

    def demo(options: argparse.Namespace) -> int:
        """Grade a sample class of twelve, to see what you get.

        Make a class of twelve in the layout of Canvas's download: correct, faulty, unfinished, a notebook, late,
        damaged, hostile, a copy in disguise. Grade it, and compare the submissions. Everything goes into one folder,
        which is made anew; the commands are shown as you would type them.
        """
        return run(options, main)

    parser = add_command(commands, "demo", demo, "--output build/demo", ("jobs",))
    parser.add_argument("--output", type=Path, default=Path("demo"), help="default: demo")


def run(options: argparse.Namespace, main: Callable[[list[str]], int]) -> int:
    """Makes the class, grades it and compares it; the exit status is 0 if the commands could do so."""
    folder, assignment = options.output, read_assignment()
    if folder.exists() and not (folder / GRADEBOOK).is_file() and any(folder.iterdir()):
        raise UserError(f"--output {folder}: it is not empty, and no demo; name another folder")
    shutil.rmtree(folder, ignore_errors=True)
    students = list(make_class(assignment))
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


def make_class(assignment: Assignment) -> Iterator[Student]:
    """Makes the class of twelve."""
    names = assignment.contract.modules
    whole = {name: source for name, source in read_modules(REFERENCE).items() if name in names}
    bonus = {part.partition(".")[0] for task in assignment.tasks if task.understanding for part in task.components}
    right = {name: source for name, source in whole.items() if name not in bonus}
    empty = {name: source for name, source in read_modules(SKELETON).items() if name in names}
    faults = {fault.id: fault for fault in faults_of(assignment)}
    # All share the reference's code, which is common knowledge; Ben writes `this`, so that there is something to copy.
    of_ben = dict(apply(faults["attention-not-scaled"], right))
    for name in of_ben.keys() - {"data"}:  # which is given
        path, text = of_ben[name]
        of_ben[name] = path, re.sub(r"\bself\b", "this", text)
    copied = {name: (path, disguise(text)) for name, (path, text) in of_ben.items()}
    begun = empty | {name: right[name] for name in ("embedding", "attention")}
    hostile = dict(right) | {"layers": (right["layers"][0], right["layers"][1] + LEAVES)}
    texts = (translations(share_wrong / 100) for share_wrong in range(17, 30))

    def translated(modules: Sources) -> dict[str, bytes]:
        return packed(modules) | {"translations.txt": next(texts)}

    yield "Amina Right", "everything right, the bonus too", translated(whole)
    yield "Ben Scale", "scores are not divided by sqrt(d_k)", translated(of_ben)
    for name, about, fault in (
        ("Carla Norm", "the sample variance in LayerNorm", "layer-norm-sample-variance"),
        ("Deniz Batch", "one mask for the whole batch", "attention-mask-of-first-sentence"),
        ("Kim Flat", "no ReLU in the feed-forward network", "feed-forward-no-relu"),
    ):
        yield name, about, translated(apply(faults[fault], right))
    yield "Eva Unfinished", "the first three tasks alone", packed(begun)
    files = {"transformer.ipynb": notebook(right), "translations.txt": next(texts)}
    yield "Femi Notebook", "a Jupyter notebook", files
    yield "Gina Late", "right, but late", translated(right)
    archive = as_zip(translated(right))
    yield "Hugo Damaged", "an archive that was cut off: a person decides", archive[: len(archive) // 2]
    yield "Ines Hostile", "ends the grader's process", translated(hostile)
    yield "Jan Copy", "Ben's code with other names and without comments", translated(copied)
    yield "Lea Tests", "right, but without translations", packed(right)


def packed(modules: Sources) -> dict[str, bytes]:
    """The modules as files of the folder `student`."""
    return {f"student/{name}.py": text.encode() for name, (_, text) in modules.items()}


def translations(share_wrong: float) -> bytes:
    """Translations that a model might have made: the references, where each word may be missing or come again."""
    if not TEST_REFERENCES.is_file():
        raise UserError(f"{TEST_REFERENCES}: no such file; `make data` writes it")
    chance = random.Random(share_wrong)  # noqa: S311  draws samples
    lines = []
    for reference in read_references(TEST_REFERENCES):
        words = undo_bpe(reference).split()
        times = (1 if chance.random() > share_wrong else chance.choice((0, 2)) for _ in words)
        lines.append(" ".join(word for word, count in zip(words, times, strict=True) for _ in range(count)) or ".")
    return "".join(f"{line}\n" for line in lines).encode()


def notebook(modules: Sources) -> bytes:
    """A notebook with one cell for each module; its names are all in one place, so nothing is imported relatively."""
    cells = [
        {"cell_type": "code", "source": re.sub(r"^( *)from \.\w* import .*", r"\1pass", text, flags=re.MULTILINE)}
        for _, text in modules.values()
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}).encode()


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
