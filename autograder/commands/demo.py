"""`python -m autograder demo`: a sample class with known mistakes, from its submissions to its class page."""

import argparse
import random
import shutil

from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.places import REFERENCE, TEST_REFERENCES
from foundation.whole_files import make_zip, write_whole

from ..course.catalogue import apply, faults_of
from ..grading.scoring import read_references, undo_bpe
from ..intake.sources import read_modules

ROSTER = "demo-roster.csv"
"""By its name a folder is known that may be made anew: no course calls its own so."""
MISTAKES = {
    "Ben": "attention-not-scaled",
    "Carla": "layer-norm-sample-variance",
    "Kim": "feed-forward-no-relu",
}
"""Known mistakes; what else these students have not written takes no time to grade."""
LEAVES = "\n\nimport os\n\nos._exit(0)  # would end a grader that runs in one process with it\n"


def demo(options: argparse.Namespace) -> int:
    """Grade a sample class of six, to see what you get.

    Make a class with everything right, three unfinished submissions with a known mistake, an archive that is cut off,
    and code that ends the process that runs it. Grade it, and compare the submissions. Everything goes into one
    folder, which is made anew; the commands are shown as you would type them.
    """
    from ..__main__ import main

    folder, marks = options.output, options.output / "marks"
    if folder.exists() and not (folder / ROSTER).is_file() and any(folder.iterdir()):
        raise UserError(f"--output {folder}: it is not empty, and no demo; name another folder")
    shutil.rmtree(folder, ignore_errors=True)
    archives = make_class(read_assignment())
    for name, content in archives.items():
        write_whole(folder / "submissions" / f"{name}.zip", content)
    write_whole(folder / ROSTER, "".join(f"{name}\n" for name in ("id", *archives)))
    download = [str(folder / "submissions"), "--roster", str(folder / ROSTER)]
    for words in (
        ["list-class", *download],
        ["grade-class", *download, "--output", str(marks), "--jobs", str(options.jobs)],
        ["similar", *download, "--output", str(marks), "--jobs", str(options.jobs)],
    ):
        print(f"\n$ python -m autograder {' '.join(words)}", flush=True)
        if main(words) not in (0, 1):  # 1: a damaged archive waits for a person
            return 1
    return 0


def make_class(assignment: Assignment) -> dict[str, bytes]:
    """The archive of each student, by name."""
    bonus = {part.partition(".")[0] for task in assignment.tasks if task.understanding for part in task.components}
    names = [name for name in assignment.contract.modules if name not in bonus]
    whole = {name: source for name, source in read_modules(REFERENCE).items() if name in names}
    faults = {fault.id: fault for fault in faults_of(assignment)}
    path, text = whole["attention"]
    classes = {"Amina": whole, "Hugo": whole, "Ines": {"attention": (path, text + LEAVES)}}
    for name, mistake in MISTAKES.items():
        module, _, _ = faults[mistake].component.partition(".")
        classes[name] = {module: apply(faults[mistake], whole)[module]}
    archives = {}
    for name, modules in sorted(classes.items()):
        files = {f"student/{module}.py": source.encode() for module, (_, source) in modules.items()}
        archives[name] = make_zip(files | {"translations.txt": translations()} if name == "Amina" else files)
    archives["Hugo"] = archives["Hugo"][: len(archives["Hugo"]) // 2]
    return archives


def translations() -> bytes:
    """Translations that a model might have made: the references, without some of their words."""
    if not TEST_REFERENCES.is_file():
        raise UserError(f"{TEST_REFERENCES}: no such file; `make data` writes it")
    chance = random.Random(0)  # noqa: S311  draws samples
    lines = [undo_bpe(reference).split() for reference in read_references(TEST_REFERENCES)]
    kept = (" ".join(word for word in line if chance.random() > 0.2) or "." for line in lines)
    return "".join(f"{line}\n" for line in kept).encode()
