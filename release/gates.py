"""What a release has to prove before it leaves, and how all of these proofs run; those that read its files.

They hold no solution and nothing private, do not speak of what students do not have, and name tasks that exist. The
proofs that run the tests are in `trials.py`.
"""

import re
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from foundation.term_secret import term_secret

from .build import Project, Release
from .contents import ARCHIVE_FOLDER, withheld_files
from .leaks import LeakFinder
from .packing import ARCHIVES, Audience, audience_of, members_of

AT_A_TIME = 2
"""So many gates run at once: most wait for a process, and each process has one thread."""

SHOWN_FAULTS = 20

_MIN_WORDS = 4
_READ = (".py", ".md", ".ipynb", ".svg", ".toml")
"""What students may read."""
_TASK = re.compile(r"\b(?:tasks?|extensions?|TODO) (?P<number>(?:\d+|E)\.\d+)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Workspace:
    """What gates look at.

    Args:
        project: where the inputs are.
        release: what was made of them, in memory.
        package: a folder with the skeleton, written out.
    """

    project: Project
    release: Release
    package: Path

    @cached_property
    def shipped(self) -> dict[str, bytes]:
        """Every file of the release by path, also those in the archives as they were packed."""
        outputs = self.release.outputs.items()
        return {name: text for path, packed in outputs for name, text in ((path, packed), *members_of(path, packed))}


Gate = Callable[[Workspace], list[str]]
"""A proof about a release: one line for each fault; none means passed."""


def run_gates(gates: Mapping[str, Gate], project: Project, release: Release) -> dict[str, list[str]]:
    """Runs all gates, also after a failed one; prints each with its faults as it ends, and returns the faults."""

    def run(name: str) -> list[str]:
        start = time.perf_counter()
        faults = gates[name](workspace)
        shown = faults[:SHOWN_FAULTS] + [f"and {len(faults) - SHOWN_FAULTS} more"] * (len(faults) > SHOWN_FAULTS)
        head = f"{'✗' if faults else '✓'} {time.perf_counter() - start:5.1f} s  {name}"
        print("\n    ".join([head, *shown]), flush=True)
        return faults

    with tempfile.TemporaryDirectory(prefix="release-") as folder, ThreadPoolExecutor(AT_A_TIME) as pool:
        workspace = Workspace(project, release, Path(folder) / release.assignment.package)
        write_all(release.folder, workspace.package)
        return dict(zip(gates, pool.map(run, gates), strict=True))


def write_all(files: Mapping[str, bytes], folder: Path) -> None:
    """Writes files by path into a folder of a gate's own."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def no_solution_survives(workspace: Workspace) -> list[str]:
    """No statement of a solution, verbatim, reformatted or renamed, in any file for students or the server."""
    finder = LeakFinder(workspace.release.skeleton)
    contents: dict[bytes, str] = {}
    for path, content in workspace.shipped.items():  # archives have been opened: their members are among these
        if audience_of(path) is not Audience.INSTRUCTORS and not path.endswith(ARCHIVES):
            contents.setdefault(content, path)
    return [leak for content, path in contents.items() for leak in finder.leaks_in(path, content)]


def names_known_tasks(workspace: Workspace) -> list[str]:
    """Nothing that students read speaks of a task that the assignment does not have: it may have been dropped."""
    known = {task.number for task in workspace.release.assignment.tasks}
    texts = {
        content: path
        for path, content in workspace.shipped.items()
        if audience_of(path) is Audience.STUDENTS and path.endswith(_READ)
    }
    return [
        f"{path}:{number}: names {match[0]!r}, but there is no such task"
        for content, path in texts.items()
        for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), start=1)
        for match in _TASK.finditer(line)
        if match["number"].upper() not in known
    ]


def keeps_private(workspace: Workspace) -> list[str]:
    """Nothing of `data/private/`, `reference/`, `release/` or `tests/` leaves, nor what `instructor_only` names.

    The grading server gets the hidden references, the secret and nothing else of these; instructors get what they
    already have.
    """
    project, release = workspace.project, workspace.release
    private = [f"{name}/" for name in ("data/private", "release", "tests", project.reference.resolve().name)]
    private += withheld_files(project.root, release.assignment)
    secrets, drawn = _secret_sentences(project.root), term_secret(project.root).strip()
    faults = []
    for path, content in workspace.shipped.items():
        inner = path.rpartition("!")[2].removeprefix(f"{ARCHIVE_FOLDER}/")
        is_hidden = inner.startswith("data/private/")
        if audience_of(path) is Audience.INSTRUCTORS or (is_hidden and audience_of(path) is Audience.SERVER):
            continue
        if inner.startswith(tuple(private)):
            faults.append(f"{path}: stays with the instructor")
        if drawn in content:
            faults.append(f"{path}: holds the term's secret")
        if found := _sentences(content) & secrets:
            faults.append(f"{path}: holds {len(found)} lines of data/private/, such as {min(found)[:60]!r}")
    return faults


def _secret_sentences(root: Path) -> set[str]:
    """The private lines that are long enough to tell, and that students are not given anyway."""
    secret, public = (
        {sentence for path in (root / folder).glob("*") for sentence in _sentences(path.read_bytes())}
        for folder in ("data/private", "data/corpus")
    )
    return {sentence for sentence in secret - public if len(sentence.split()) >= _MIN_WORDS}


def _sentences(content: bytes) -> set[str]:
    """The sentences of a corpus file, subwords joined; of `source|||target` lines both sides."""
    text = content.decode("utf-8", "replace").replace("@@ ", "")
    return {side.strip() for line in text.split("\n") for side in line.split("|||")} - {""}
