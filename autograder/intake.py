"""Takes a submission in: finds its files, without running or unpacking anything.

A submission is a folder with any of the contract's modules, further modules that they import relatively, and
translations. What is missing is taken from the release, the package's `__init__` always.
"""

import ast
import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from .worker.contract import CONTRACT

MAX_FILE_BYTES = 1_000_000
MAX_FILES = 50


class IntakeError(ValueError):
    """A submission that cannot be taken in; the message says why."""


@dataclass
class Intake:
    """The files of one submission.

    Attributes:
        name: for reports.
        sources: module name -> path, text; the submission's merged with the release's.
        translations: the file to be scored, or None.
        hashes: file name -> sha256 of what was taken in.
        notes: what a human should know.
    """

    name: str
    sources: dict[str, tuple[str, str]]
    translations: Path | None = None
    hashes: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def take_in(path: Path, release: Path) -> Intake:
    """Reads a submission's folder.

    Args:
        path: the folder; its modules lie in it, or in a folder of the package's name inside it.
        release: the skeleton that was handed out.

    Raises:
        IntakeError: where there is nothing that can be graded.
    """
    if not path.exists():
        raise IntakeError(f"{path}: no such file or folder")
    if not path.is_dir():
        raise IntakeError(f"{path}: expected a folder with the files of the assignment")
    folder = path
    if not has_modules(path) and (path / release.name).is_dir() and has_modules(path / release.name):
        folder = path / release.name
    intake = Intake(path.resolve().name, read_release(release))
    wanted = list(CONTRACT)
    while wanted:
        module = wanted.pop(0)
        file = folder / f"{module}.py"
        if file.name in intake.hashes or not (file.exists() or file.is_symlink()):
            continue
        if len(intake.hashes) >= MAX_FILES:
            raise IntakeError(f"{path}: more than {MAX_FILES} modules")
        text = read_module(file, intake)
        if text is not None:
            intake.sources[module] = (str(file), text)
            wanted += [name for name in relative_imports(text) if name not in CONTRACT]
    for place in dict.fromkeys((path, folder)):
        if (place / "translations.txt").exists() or (place / "translations.txt").is_symlink():
            intake.translations = place / "translations.txt"
            break
    if not intake.hashes and intake.translations is None:
        names = ", ".join(f"{module}.py" for module in list(CONTRACT)[:3])
        raise IntakeError(f"{path}: none of the assignment's files ({names}, …, translations.txt) is there")
    return intake


def has_modules(folder: Path) -> bool:
    """Whether one of the contract's modules lies in the folder."""
    return any((folder / f"{module}.py").exists() for module in CONTRACT)


def read_release(release: Path) -> dict[str, tuple[str, str]]:
    """The modules of the skeleton."""
    return {file.stem: (str(file), file.read_text(encoding="utf-8")) for file in sorted(release.glob("*.py"))}


def read_module(file: Path, intake: Intake) -> str | None:
    """The text of one file; None, with a note, where it cannot be used."""
    if file.is_symlink() or not file.is_file():
        intake.notes.append(f"{file.name}: not an ordinary file; it was left out")
        return None
    size = file.stat().st_size
    if size > MAX_FILE_BYTES:
        intake.notes.append(f"{file.name}: {size:,} bytes, at most {MAX_FILE_BYTES:,} are read; it was left out")
        return None
    content = file.read_bytes()
    intake.hashes[file.name] = hashlib.sha256(content).hexdigest()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        intake.notes.append(f"{file.name}: not UTF-8 text (byte {error.start}); it was left out")
        return None


def relative_imports(text: str) -> list[str]:
    """Names of the sibling modules that a module imports (`from .name import …`, `from . import name`)."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found += [node.module.split(".")[0]] if node.module else [alias.name for alias in node.names]
    return found
