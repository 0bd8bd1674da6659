"""Gates over the files of a release as text: they compile, stand alone, hold no solution and nothing private."""

import re
import warnings
from pathlib import Path

from foundation.term_secret import term_secret

from ..archives.contents import ARCHIVE_FOLDER, PROGRAMS
from ..archives.handed_out import withheld_files
from ..archives.packing import GRADESCOPE_ZIP, OPENED, Audience, audience_of
from ..leaks import LeakFinder
from ..skeleton.build import read_folder
from .running import Verdict, Workspace

_RUN_BY_NAME = re.compile(r"(?:-m|from|import)\s+(?P<name>\w+)")
_MIN_WORDS = 4
_READ = (".py", ".md", ".ipynb", ".svg", ".toml")
"""What students may read."""
_TASK = re.compile(r"\b(?:tasks?|extensions?|TODO) (?P<number>(?:\d+|E)\.\d+)\b", re.IGNORECASE)


def compiles(workspace: Workspace) -> Verdict:
    """Every Python file that leaves is valid, without a warning of the compiler."""
    faults = []
    n_files = 0
    for path, content in workspace.shipped.items():
        if path.endswith(".py"):
            n_files += 1
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", SyntaxWarning)
                try:
                    compile(content, path, "exec", dont_inherit=True)
                except (SyntaxError, ValueError) as error:
                    faults.append(f"{path}:{getattr(error, 'lineno', None) or 1}: does not compile: {error}")
            ours = [one for one in caught if one.filename == path]  # other gates run in other threads
            faults += [f"{path}:{one.lineno}: does not compile without a warning: {one.message}" for one in ours]
    return Verdict(f"{n_files} files", faults)


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
        if audience_of(path) is not Audience.INSTRUCTORS and not path.endswith(OPENED):
            contents.setdefault(content, path)
    leaks = [leak for content, path in contents.items() for leak in finder.leaks_in(path, content)]
    return Verdict(f"{len(finder.pieces.places)} pieces looked for in {len(contents)} files", leaks)


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
    """Nothing of `data/private/`, `reference/`, `given/extras/`, `release/` or `tests/` leaves, by path or by content.

    The grading server gets the hidden references, the secret and nothing else of these; instructors get what they
    already have.
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
        found = _sentences(content) & secrets
        if found:
            faults.append(f"{path}: holds {len(found)} lines of data/private/, such as {min(found)[:60]!r}")
    summary = f"{n_files} files, {len(secrets)} private lines looked for"
    return Verdict(summary, faults)


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
