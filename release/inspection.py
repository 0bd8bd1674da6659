"""The gates that read the files of a release, and the search for dropped tasks in its sources.

Students get files of some kinds, which anybody can read, and which are what we have. The engine's modules, the tests,
given code and the corpus are the repository's, byte for byte. No file holds a solution or anything private.
"""

import base64
import hashlib
import re
import tomllib
from pathlib import Path

from foundation.assignment_file import Assignment, marker_of
from foundation.places import ANSWERS, COMPONENT_TESTS, HANDED_OUT, term_secret

from .build import Release
from .contents import COURSE, HINTS, TESTS, place_of, withheld_files
from .handout import PICTURES
from .legible import opaque_in
from .notebooks import FOLDER, HELPER, PREDICTIONS, SUPPORT
from .packing import ARCHIVES, GRADESCOPE_ZIP, Audience, audience_of
from .skeleton import REFERENCE, Project

KINDS = {
    "ours": rf"(?:assignment|autograder|foundation)/[\w/]+\.(?:py|toml|ini|jsonl)|{COMPONENT_TESTS}/\w+\.(?:py|toml)"
    rf"|given/[\w/]+\.(?:py|md|toml)|grade\.py|{re.escape(HELPER)}|data/corpus/[\w.]+|(?:\w+/)?[\w-]+\.(?:svg|png)",
    "skeleton": rf"\w+/[\w/]+\.py|\w+/{re.escape(ANSWERS)}",
    "prose": r"(?:\w+/)?\w+\.(?:md|html|ipynb)",
    "settings": rf"requirements\.txt|\.gitignore|pytest\.ini|conftest\.py|{re.escape(PREDICTIONS)}|{re.escape(HINTS)}"
    r"|[\w.+-]+\.dist-info/(?:METADATA|WHEEL|RECORD|entry_points\.txt)",
    "archive": rf"{re.escape(HANDED_OUT)}|[\w.+-]+\.whl",
}
"""What students get, by kind: files of the repository (engine, assignment, tests, given code, corpus and pictures), and
files that the release makes.
"""
PACKED = (f"{GRADESCOPE_ZIP}!{COURSE}/own_tests.packed",)
"""For the server only: solutions and known faults to try students' own tests on."""

_MARK = re.compile(
    r"(?:^\s*# TODO |\bmark\.task_|\{\{(?:task|answer) |^```predict |^task = \"|-m task_|\b[Tt]asks? |^\[findings\.\")"
    r"(?P<number>(?:\d+|[eE])[._]\d+)\b",
    re.MULTILINE,
)
"""What is the number of a task: in hints above solutions, markers of tests, headings of the prose, after "task"."""
_OTHERS = "(?<!section )(?<!sections )(?<!version )"
_BEFORE = dict.fromkeys((".md", ".toml"), rf"{_OTHERS}(?<![\d.])")
_BEFORE |= {".py": rf"{_OTHERS}(?<!return )(?<!else )(?:(?<=[A-Za-z] )|(?<=[\"'`]))", ".svg": "task "}
"""What a task's number follows, and another number does not, by kind of file."""
_SOURCES = ("given", "notebooks/prose", "assignment", "docs/pictures", "notebooks/handout.md", REFERENCE)


def no_solution_survives(project: Project, release: Release) -> list[str]:
    """No statement of a solution, verbatim, reformatted or renamed, in any file for students or the server."""
    contents: dict[bytes, str] = {}
    for path, content in release.shipped.items():  # archives have been opened: their members are among these
        if audience_of(path) is not Audience.INSTRUCTORS and not path.endswith((*ARCHIVES, *PACKED, ".png")):
            contents.setdefault(content, path)
    for file in (release.assignment.folder / "misconceptions").glob("*.toml"):
        known = tomllib.loads(file.read_text(encoding="utf-8"))["fault"]  # graders quote these two to students
        contents["\n".join(f"{fault['when']}\n{fault['hint']}" for fault in known).encode()] = file.name
    return [leak for content, path in contents.items() for leak in release.leak_finder.leaks_in(path, content)]


def keeps_private(project: Project, release: Release) -> list[str]:
    """Nothing of `data/private/`, `reference/`, `release/` or `tests/` leaves, nor what `instructor_only` names.

    Of these, the grading server gets the hidden references and the secret.
    """
    private = [f"{name}/" for name in ("data/private", "release", "tests", REFERENCE)]
    private += withheld_files(project.root, release.assignment)
    secret, public = (
        {sentence for path in (project.root / folder).glob("*") for sentence in _sentences(path.read_bytes())}
        for folder in ("data/private", "data/corpus")
    )
    secret = {sentence for sentence in secret - public if len(sentence.split()) >= 4}  # fewer words do not tell
    drawn = term_secret(project.root).strip()
    faults = []
    for path, content in release.shipped.items():
        inner, audience = place_of(path), audience_of(path)
        is_hidden = inner.startswith("data/private/")
        if audience is Audience.INSTRUCTORS or (is_hidden and audience is Audience.SERVER):
            continue
        if inner.startswith(tuple(private)):
            faults.append(f"{path}: stays with the instructor")
        if drawn in content:
            faults.append(f"{path}: holds the term's secret")
        if leaked := _sentences(content) & secret:
            faults.append(f"{path}: holds {len(leaked)} lines of data/private/, such as {min(leaked)[:60]!r}")
    return faults


def _sentences(content: bytes) -> set[str]:
    """The sentences of a corpus file, subwords joined; of `source|||target` lines both sides."""
    text = content.decode("utf-8", "replace").replace("@@ ", "")
    return {side.strip() for line in text.split("\n") for side in line.split("|||")} - {""}


def nothing_is_opaque(project: Project, release: Release) -> list[str]:
    """Students get files of the kinds above only, which are what they should be, and in which all is legible."""
    digests = [hashlib.sha256(content) for content in release.shipped.values()]
    checksums = {digest.hexdigest() for digest in digests}  # as a manifest writes them, and as a wheel does
    checksums |= {base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=") for digest in digests}
    faults: list[str] = []
    distinct: dict[tuple[str, bytes], str] = {}  # most files are in several archives
    for path, content in release.shipped.items():
        if audience_of(path) is Audience.STUDENTS and ("!" in path or not path.endswith(ARCHIVES)):
            distinct.setdefault((_place(path, release), content), path)
    for (place, content), path in distinct.items():
        source = project.root / place.replace(f"{COMPONENT_TESTS}/", TESTS).replace(HELPER, f"{FOLDER}/{HELPER}")
        if source.suffix in (".svg", ".png"):
            source = project.root / PICTURES / source.name
        kind = next((kind for kind, form in KINDS.items() if re.fullmatch(form, place)), None)
        if kind == "ours" and not (source.is_file() and source.read_bytes() == content):
            faults.append(f"{path}: differs from the repository's file")
        elif kind is None:
            faults.append(f"{path}: is of no kind that students get; if it should be, add it to release/inspection.py")
        elif kind == "skeleton" and release.skeleton.files.get(place.partition("/")[2]) != content:
            faults.append(f"{path}: is not what the release has made of the reference")
        if kind == "archive" or place.endswith(".png"):
            continue
        try:
            opaque = sorted(opaque_in(path, content, checksums))
        except UnicodeDecodeError:
            opaque = ["it: it is not text"]
        faults += [f"{path}: nobody can read {piece}; hand out what it stands for, or nothing" for piece in opaque]
    return faults


def _place(path: str, release: Release) -> str:
    """Where a file lies in the students' folder; modules beside notebooks as if they were beside tests."""
    package = release.assignment.package
    built = re.escape(f"{FOLDER}/release/{release.assignment.name}/")
    inner = re.sub(rf"^(?:{built}|{FOLDER}/)?(?:{SUPPORT}/)?", "", place_of(path))
    return re.sub(r"^skeleton/", f"{package}/", inner)


def places_of_dropped_tasks(root: Path, assignment: Assignment) -> list[str]:
    """Return a line for each place of a task that the assignment does not have, or for which no test is left."""
    files = [place for name in _SOURCES for place in [root / name, *sorted((root / name).rglob("*"))]]
    texts = {
        path: path.read_text(encoding="utf-8", errors="replace")
        for path in files
        if path.suffix in _BEFORE and path.is_file() and "proof/" not in path.as_posix()  # numbers there are no tasks
    }
    prose = "\n".join(text for path, text in texts.items() if path.suffix == ".md")
    texts = {path: text for path, text in texts.items() if path.suffix != ".svg" or path.name in prose}  # those shown
    marks = [match["number"] for text in texts.values() for match in _MARK.finditer(text)]
    tests = [text for path, text in texts.items() if path.parent == (root / TESTS)]
    tested = {task.marker for task in assignment.tasks if any(task.marker in test for test in tests)}
    untested = [task for task in assignment.tasks if task.has_component_tests and task.marker not in tested]
    known = {task.number for task in assignment.tasks}
    unknown = {number.upper().replace("_", ".") for number in marks} - known
    reasons = dict.fromkeys(sorted(unknown), "which is not in assignment.toml")
    reasons |= {task.number: f"of which no test is left in {TESTS}: drop it, or test it" for task in untested}
    faults = []
    for number, reason in reasons.items():
        for path, text in texts.items():
            before = _BEFORE[path.suffix] if number[0].isdigit() else ""
            name = re.compile(rf"{before}{re.escape(number)}(?!\d|\.\d)|{marker_of(number)}\b")
            read = enumerate(text.splitlines(), start=1)  # code of misconceptions apart
            lines = [n for n, line in read if name.search(line) and not line.startswith(("find", "replace"))]
            others = [task.number for task in assignment.tasks if path.parent == root / TESTS and task.marker in text]
            stay = f"; keep what tests {' and '.join(others)} there" if others and number in unknown else ""
            faults += [f"{path.relative_to(root)}:{n}: names task {number}, {reason}{stay}" for n in lines]
    return faults
