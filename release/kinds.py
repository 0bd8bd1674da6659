"""What may be in a students' archive: files of some kinds, which anybody can read, and which are what we have.

The engine's modules, the tests, given code and the corpus are the repository's, byte for byte; what an update compares
with is what lies beside it; an archive has no bytes but its members'.
"""

import base64
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from foundation.places import ANSWERS, COMPONENT_TESTS, HANDED_OUT

from .build import Project, Release
from .contents import HINTS, TESTS, hints_of, place_of
from .notebooks import FOLDER, HELPER, PREDICTIONS, SUPPORT
from .opaque import opaque_in
from .packing import ARCHIVES, Audience, audience_of, make_zip
from .pictures import PNG, fault_of_picture

OURS = {
    "engine and assignment": r"(?:assignment|autograder|foundation)/[\w/]+\.(?:py|toml|ini|jsonl)",
    "test": rf"{COMPONENT_TESTS}/\w+\.(?:py|toml)",
    "given code": rf"given/[\w/]+\.(?:py|md)|grade\.py|{re.escape(HELPER)}",
    "corpus": r"data/corpus/[\w.]+",
}
"""Files of the repository, by kind."""
MADE = {
    "skeleton": rf"\w+/[\w/]+\.py|\w+/{re.escape(ANSWERS)}",
    "prose": r"(?:\w+/)?\w+\.(?:md|html|ipynb)",
    "settings": rf"requirements\.txt|\.gitignore|pytest\.ini|conftest\.py|{re.escape(PREDICTIONS)}|{re.escape(HINTS)}"
    r"|[\w.+-]+\.dist-info/(?:METADATA|WHEEL|RECORD|entry_points\.txt)",
    "picture": r"(?:\w+/)?[\w-]+\.(?:svg|png)",
    "archive": rf"{re.escape(HANDED_OUT)}|[\w.+-]+\.whl",
}
"""Files that the release makes, by kind."""


def nothing_is_opaque(project: Project, release: Release) -> list[str]:
    """Students get files of the kinds above only, which are what they should be, and in which all is legible."""
    files = {path: content for path, content in release.shipped.items() if audience_of(path) is Audience.STUDENTS}
    checksums = set(checksums_of(release.shipped.values()))
    faults: list[str] = []
    distinct: dict[tuple[str, bytes], str] = {}  # most files are in several archives
    for path, content in files.items():
        if path.endswith(ARCHIVES):
            faults += _faults_of_archive(path, content, files)
        if "!" in path or not path.endswith(ARCHIVES):
            distinct.setdefault((_place(path, release), content), path)
    hints = hints_of(project.root, release.assignment)
    for (place, content), path in distinct.items():
        kind = next((kind for kind, form in {**OURS, **MADE}.items() if re.fullmatch(form, place)), None)
        if kind is None:
            faults.append(f"{path}: is of no kind that students get; if it should be, add it to release/kinds.py")
        elif kind in OURS and not _is_in_repository(project, place, content):
            faults.append(f"{path}: differs from the repository's file")
        elif kind == "skeleton" and release.skeleton.files.get(place.partition("/")[2]) != content:
            faults.append(f"{path}: is not what the release has made of the reference")
        elif place == HINTS and hints.get(HINTS) != content:
            faults.append(f"{path}: differs from the catalogue's hints")
        elif kind == "picture" and (fault := fault_of_picture(content)):
            faults.append(f"{path}: {fault}")
        if kind != "archive" and not content.startswith(PNG):
            faults += _illegible_in(path, content, checksums)
    return faults


def checksums_of(contents: Iterable[bytes]) -> Iterator[str]:
    """The checksums of some files, as a manifest and as a wheel writes them."""
    for digest in map(hashlib.sha256, contents):
        yield digest.hexdigest()
        yield base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")


def _place(path: str, release: Release) -> str:
    """Where a file lies in the students' folder; modules beside notebooks as if they were beside tests."""
    package = release.assignment.package
    built = re.escape(f"{FOLDER}/release/{release.assignment.name}/")
    inner = re.sub(rf"^(?:{built}|{FOLDER}/)?(?:{SUPPORT}/)?", "", place_of(path))
    return re.sub(r"^skeleton/", f"{package}/", inner)


def _faults_of_archive(path: str, content: bytes, files: Mapping[str, bytes]) -> Iterator[str]:
    """Bytes that belong to no member; members of what is kept for updates that are not those beside it."""
    beside = path.removesuffix(HANDED_OUT)
    members = {name.removeprefix(f"{path}!"): data for name, data in files.items() if name.startswith(f"{path}!")}
    members = {name: data for name, data in members.items() if "!" not in name}
    if make_zip(members) != content:
        yield f"{path}: holds bytes that belong to none of its members"
    if beside != path:
        others = (name for name, data in members.items() if files.get(f"{beside}{name}") != data)
        yield from (f"{path}!{name}: differs from the file beside the archive" for name in others)


def _is_in_repository(project: Project, place: str, content: bytes) -> bool:
    """Whether a file is the repository's own."""
    source = project.root / place.replace(f"{COMPONENT_TESTS}/", TESTS).replace(HELPER, f"{FOLDER}/{HELPER}")
    return source.is_file() and source.read_bytes() == content


def _illegible_in(path: str, content: bytes, checksums: Collection[str]) -> Iterator[str]:
    try:
        for line, what in opaque_in(path, content, checksums):
            yield f"{path}:{line}: nobody can read {what}; hand out what it stands for, or nothing"
    except UnicodeDecodeError:
        yield f"{path}: is not text, so that nobody can read it; hand out what it stands for, or nothing"
