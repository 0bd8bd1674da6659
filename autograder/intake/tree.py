"""The files of a submission, be it a folder, loose files or a .zip: their paths, and a bounded way to read one.

What is never read need not be safe: it is skipped. No link is followed; how much is read is bounded.
"""

import errno
import io
import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PureWindowsPath

from foundation.places import ANSWERS

from .sources import IntakeError, RefusedError

NUMBERED = re.compile(r"(.*?[^/ ])((?:-[1-9]\d{0,3}| ?\([1-9]\d{0,3}\)){1,3})((?:\.[A-Za-z]+)*)", re.DOTALL)
"""Canvas makes `layers-1.py` of the second upload of `layers.py`, browsers `layers (1).py` of a second download."""
MAX_MODULE_BYTES = 100_000
MAX_ARCHIVE_BYTES = 50_000_000
MAX_ENTRIES = 50_000  # of a folder or an archive; listing is cheap
TRANSLATIONS = "translations.txt"
LIMITS = {
    ".py": MAX_MODULE_BYTES,
    ".ipynb": 100_000_000,  # pictures in its output included
    TRANSLATIONS: 10_000_000,
    ANSWERS: 20_000,
}
"""By the end of a file's name, the most bytes that are read."""
ARCHIVES = (".zip",)
ENTRY_OF_LISTING = b"PK\x01\x02"


@dataclass(frozen=True)
class LooseFiles:
    """Files that lie beside those of others, as some learning platforms hand them out."""

    name: str  # of the submission, for reports
    folder: Path  # that holds them
    members: tuple[tuple[str, str], ...]  # name within the submission, name in the folder; both without a slash


@dataclass(frozen=True)
class File:
    """A file of a submission."""

    read: Callable[[int], bytes]  # its content, of at most so many bytes
    problem: str  # why reading it is refused: a link, a name that leads elsewhere, two files with one name; or ""


@dataclass
class Tree:
    """The files of a submission."""

    last_counts: bool = False  # a platform has put numbers behind names, and the highest is the last upload
    files: dict[str, File] = field(default_factory=dict)  # by their path within the submission, "student/layers.py"
    renamed: dict[str, str] = field(default_factory=dict)  # path -> the name of the file, where an upload changed it
    was_read: set[str] = field(default_factory=set)  # paths of all files that something was made of

    def add(self, name: str, read: Callable[[int], bytes], problem: str) -> None:
        """Adds a file under the path that stands for its name in the folder or the archive."""
        path, leads_elsewhere = _plain_path(name)
        if path:
            problem = "it is there twice; keep one" if path in self.files else problem or leads_elsewhere
            self.files[path] = File(read, problem)

    def give_names_back(self) -> None:
        """Gives modules and texts the names back that they had before an upload put numbers behind them.

        Of several copies the last counts; where a platform has put the numbers there, also before a plain name.
        """
        copies: dict[str, list[tuple[list[int], str]]] = {}
        for path in self.files:
            if numbered := NUMBERED.fullmatch(path):
                stem, numbers, ending = numbered.groups()
                copies.setdefault(stem + ending, []).append(([*map(int, re.findall(r"\d+", numbers))], path))
        for path, numbered_paths in copies.items():
            is_plain_there = path in self.files
            is_text = path.endswith(".py") or path.rpartition("/")[2] in (TRANSLATIONS, ANSWERS)
            if self.last_counts if is_plain_there else is_text:
                *others, (_, last) = sorted(numbered_paths)
                self.files[path] = self.files.pop(last)
                self.renamed[path] = last
                for _, other in others if self.last_counts else ():
                    del self.files[other]

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The content of a file, whose limit in bytes follows from its name if none is given. Raises: RefusedError."""
        self.was_read.add(path)
        if problem := self.files[path].problem:
            raise RefusedError(problem)
        return self.files[path].read(limit or next(limit for ending, limit in LIMITS.items() if path.endswith(ending)))


def list_files(path: Path | LooseFiles) -> Tree:
    """The files of a folder, loose ones, or the one file that was handed in. Raises: RefusedError, IntakeError."""
    tree, n_entries = Tree(last_counts=isinstance(path, LooseFiles)), 0
    if isinstance(path, LooseFiles):
        for member, entry in path.members:
            _add_from_disk(tree, member, path.folder / entry)
        return tree
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            _add_from_disk(tree, path.name, path)
            return tree
        os.scandir(path).close()
    except (OSError, ValueError) as error:
        raise IntakeError(f"{path}: {getattr(error, 'strerror', None) or 'no such file or folder'}") from None
    for folder, inner, files in os.walk(path):
        inner[:] = sorted(name for name in inner if not is_clutter(name))
        n_entries += len(inner) + len(files)
        if n_entries > MAX_ENTRIES:
            raise RefusedError(f"more than {MAX_ENTRIES:,} files and folders; hand in only what is asked for")
        for file in (Path(folder, name) for name in (*inner, *sorted(files))):
            _add_from_disk(tree, str(file.relative_to(path)), file)
    return tree


def _add_from_disk(tree: Tree, name: str, path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except OSError as error:  # a path that is too long
        tree.add(name, partial(read_file, path), f"{error.strerror}; hand in ordinary files")
        return
    if not stat.S_ISDIR(mode):
        tree.add(name, partial(read_file, path), problem_of(mode))


def list_zip(content: bytes) -> Tree:
    """The members of a .zip, to be read one by one within bounds; nothing is unpacked to disk. Raises: RefusedError."""
    if not content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        kind = "none of these" if content else "empty"
        raise RefusedError(f"expected a folder, a .zip or a notebook (.ipynb); this is {kind}")
    too_many = RefusedError(f"more than {MAX_ENTRIES:,} entries; hand in only what is asked for")
    # The library makes an object for each entry before it counts them; this bounds them.
    if content.count(ENTRY_OF_LISTING) > 4 * MAX_ENTRIES:
        raise too_many
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except TimeoutError:
        raise
    except Exception:  # the library raises a dozen kinds for damaged listings
        raise RefusedError("the archive is damaged or cut off; pack it again") from None
    if len(archive.infolist()) > MAX_ENTRIES:
        raise too_many
    tree = Tree()
    for entry in archive.infolist():
        name = entry.orig_filename  # `filename` ends at a NUL
        if not name.endswith(("/", "\\")) and not stat.S_ISDIR(entry.external_attr >> 16):
            mode = entry.external_attr >> 16
            tree.add(name, partial(_read_member, archive, entry), problem_of(mode) if stat.S_IFMT(mode) else "")
    return tree


def _read_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limit: int) -> bytes:
    _check_size(entry.file_size, limit)
    try:
        if entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others cannot be bounded
            with archive.open(entry) as member:
                content = member.read(entry.file_size)  # which compares the checksum
            if len(content) == entry.file_size:
                return content
    except TimeoutError:
        raise
    except Exception:  # noqa: S110  the library raises a dozen kinds for damaged members
        pass
    raise RefusedError("it is damaged, encrypted or not compressed by deflate; pack it again")


def read_file(path: Path, limit: int) -> bytes:
    """Reads an ordinary file; follows no link, waits for no pipe, keeps no byte above the limit.

    Raises: RefusedError where it is not an ordinary file, or larger; IntakeError where the system does not let us.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise RefusedError(problem_of(stat.S_IFLNK)) from None
        raise IntakeError(f"{path}: {error.strerror or error}") from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if problem := problem_of(status.st_mode):
            raise RefusedError(problem)
        _check_size(status.st_size, limit)
        content = file.read(limit + 1)
        _check_size(len(content), limit)  # it may grow
        return content


def _plain_path(name: str) -> tuple[str, str]:
    """The path that a person sees in a name, "folder/file.py", or ""; and why what bears it is not read, or ""."""
    path = unicodedata.normalize("NFC", name).replace("\\", "/")
    parts = [part.strip() for part in path.split("/")]
    leads_out = ".." in parts or PureWindowsPath(path).root  # of "/layers.py", "C:/layers.py"
    problem = "its name leads out of the archive; pack the files with relative names" if leads_out else ""
    return "/".join(part for part in parts if part not in ("", ".", "..")), problem


def is_clutter(path: str) -> bool:
    """True for a path that systems and tools leave behind: a hidden file, or a cache."""
    return any(part.startswith(".") or part in ("__pycache__", "__MACOSX") for part in path.split("/"))


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise RefusedError(f"it has {size:,} bytes, and at most {limit:,} are read; hand in a shorter file")


def problem_of(mode: int) -> str:
    """Why an entry of a folder or an archive is not read; "" for an ordinary file."""
    if stat.S_ISREG(mode):
        return ""
    return f"it is {'a symbolic link' if stat.S_ISLNK(mode) else 'no ordinary file'}; hand in ordinary files"
