"""What a release has to prove before it leaves, and how all of these proofs run; those that read its files.

They hold no solution and nothing private, do not speak of what students do not have, and name tasks that exist. The
proofs that run the tests are in `trials.py`.
"""

import re
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tqdm import tqdm

from foundation.term_secret import term_secret

from .build import Project, Release
from .contents import ARCHIVE_FOLDER, PROGRAMS, held_back, withheld_files
from .leaks import LeakFinder
from .packing import GRADESCOPE_ZIP, Audience, audience_of, members_of
from .skeleton import read_folder

AT_A_TIME = 2
"""So many gates run at once: most wait for a process, and each process has one thread."""

_RUN_BY_NAME = re.compile(r"(?:-m|from|import)\s+(?P<name>\w+)")
_MIN_WORDS = 4
_LONG = 40
"""Characters of a line of code."""
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


@dataclass(frozen=True)
class Verdict:
    """What a gate found: a summary in a few words, and one line for each fault; no faults means passed."""

    summary: str
    faults: Sequence[str] = ()


@dataclass(frozen=True)
class Gate:
    """A named proof about a release, or several that share their work: one name for each verdict of `check`."""

    names: tuple[str, ...]
    check: Callable[[Workspace], Sequence[Verdict]]


@dataclass(frozen=True)
class GateResult:
    """A verdict with its gate's name and time; of gates that share their work the first has the time of all."""

    name: str
    has_passed: bool
    seconds: float
    summary: str
    faults: Sequence[str]


class ProcessError(Exception):
    """A process took too long or left no result; the text says which one."""


def gate(name: str, check: Callable[[Workspace], Verdict]) -> Gate:
    """A gate with a single verdict."""
    return Gate((name,), lambda workspace: [check(workspace)])


def run_gates(gates: Iterable[Gate], project: Project, release: Release) -> list[GateResult]:
    """Runs all gates, also after a failed one; shows progress on a terminal."""
    gates = list(gates)
    with tempfile.TemporaryDirectory(prefix="release-") as name, ThreadPoolExecutor(AT_A_TIME) as pool:
        workspace = Workspace(project, release, Path(name) / release.assignment.package)
        write_all(release.folder, workspace.package)
        done = pool.map(lambda each: _run(each, workspace), gates)
        progress = tqdm(done, desc="gates", leave=False, disable=None, unit="gate", total=len(gates))
        return [result for results in progress for result in results]


def _run(each: Gate, workspace: Workspace) -> list[GateResult]:
    start = time.perf_counter()
    try:
        verdicts = each.check(workspace)
    except ProcessError as error:
        verdicts = [Verdict("no result", [str(error)])] * len(each.names)
    seconds = time.perf_counter() - start
    return [
        GateResult(name, not verdict.faults, 0.0 if number else seconds, verdict.summary, verdict.faults)
        for number, (name, verdict) in enumerate(zip(each.names, verdicts, strict=True))
    ]


def write_all(files: Mapping[str, bytes], folder: Path) -> None:
    """Writes files by path into a folder of a gate's own."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def stands_alone(workspace: Workspace) -> Verdict:
    """No file of the skeleton names the reference's package, which students do not have."""
    name = workspace.project.reference.resolve().name
    faults = []
    for path, content in workspace.release.folder.items():
        for number, line in enumerate(content.decode("utf-8").split("\n"), start=1):
            if any(match["name"] == name for match in _RUN_BY_NAME.finditer(line)) or f"{name}/" in line:
                what = f"names {name!r}, which students do not have: {line.strip()[:60]}"
                faults.append(f"{workspace.release.assignment.package}/{path}:{number}: {what}")
    return Verdict(f"{len(workspace.release.folder)} files do not mention the reference", faults)


def no_solution_survives(workspace: Workspace) -> Verdict:
    """No statement of a solution, verbatim, reformatted or renamed, in any file for students or the server."""
    finder = LeakFinder(workspace.release.skeleton)
    contents: dict[bytes, str] = {}
    for path, content in workspace.shipped.items():  # archives have been opened: their members are among these
        if audience_of(path) is not Audience.INSTRUCTORS and not path.endswith(".zip"):
            contents.setdefault(content, path)
    leaks = [leak for content, path in contents.items() for leak in finder.leaks_in(path, content)]
    return Verdict(f"{len(finder.places)} pieces looked for in {len(contents)} files", leaks)


def names_known_tasks(workspace: Workspace) -> Verdict:
    """Nothing that students read speaks of a task that the assignment does not have: it may have been dropped."""
    known = {task.number for task in workspace.release.assignment.tasks}
    texts = {
        content: path
        for path, content in workspace.shipped.items()
        if audience_of(path) is Audience.STUDENTS and path.endswith(_READ)
    }
    faults = []
    for content, path in texts.items():
        for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), start=1):
            for match in _TASK.finditer(line):
                if match["number"].upper() not in known:
                    around = line[max(match.start() - 20, 0) : match.end() + 20].strip()
                    faults.append(f"{path}:{number}: names {match[0]!r}, but there is no such task: {around}")
    return Verdict(f"{len(texts)} texts name {len(known)} tasks", faults)


def keeps_private(workspace: Workspace) -> Verdict:
    """Nothing of `data/private/`, `reference/`, `release/` or `tests/` leaves, by path or by content.

    Nor does what `[release] instructor_only` names. The grading server gets the hidden references, the secret and
    nothing else of these; instructors get what they already have.
    """
    project, release = workspace.project, workspace.release
    private = {name: project.root / name for name in ("data/private", "release", "tests")}
    private |= {project.reference.resolve().name: project.reference}
    programs = release.archives.get(GRADESCOPE_ZIP, {})
    own = {*release.skeleton.files.values(), *(programs[name] for name in PROGRAMS if name in programs)}
    contents = {
        content: f"{name}/{path}"
        for name, folder in private.items()
        for path, content in read_folder(folder).items()
        if content and not (folder / path).is_symlink()
    }
    contents |= {content: path for path, content in withheld_files(project.root, release.assignment).items()}
    faults = []
    secrets, drawn = _secret_sentences(project.root), term_secret(project.root).strip()
    n_files = 0
    for path, content in workspace.shipped.items():
        inner = path.rpartition("!")[2].removeprefix(f"{ARCHIVE_FOLDER}/")
        is_hidden = inner.startswith("data/private/")
        if audience_of(path) is Audience.INSTRUCTORS or (is_hidden and audience_of(path) is Audience.SERVER):
            continue
        n_files += 1
        if inner.startswith(tuple(f"{name}/" for name in private)):
            faults.append(f"{path}: stays with the instructor")
        if content in contents and content not in own:
            faults.append(f"{path}: is the same as {contents[content]}")
        if drawn in content:
            faults.append(f"{path}: holds the term's secret")
        if found := _sentences(content) & secrets:
            faults.append(f"{path}: holds {len(found)} lines of data/private/, such as {min(found)[:60]!r}")
    return Verdict(f"{n_files} files, {len(secrets)} private lines looked for", faults)


def holds_tests_back(workspace: Workspace) -> Verdict:
    """In the first phase, no test of what students write tests for is in what they get, whole or in part."""
    root, assignment = workspace.project.root, workspace.release.assignment
    held = held_back(root, assignment)
    others = read_folder(root / "autograder")
    known = {line for path, text in others.items() if f"autograder/{path}" not in held for line in _long_lines(text)}
    wanted = {line for text in held.values() for line in _long_lines(text)} - known
    faults = []
    for path, content in workspace.shipped.items():
        is_theirs = audience_of(path) is Audience.STUDENTS and not path.endswith(".zip")
        if is_theirs and (found := wanted & set(_long_lines(content))):
            faults.append(f"{path}: holds {len(found)} lines of tests that are held back, such as {min(found)!r}")
    return Verdict(f"{len(held)} files, {len(wanted)} lines looked for", faults)


def _long_lines(content: bytes) -> Iterable[str]:
    """The lines that no two files have by chance; of a notebook, those of its cells."""
    lines = (line.strip(' ",').removesuffix("\\n") for line in content.decode("utf-8", "replace").split("\n"))
    return [line for line in lines if len(line) >= _LONG]


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
