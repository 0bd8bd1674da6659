"""The files of a submission, be it a folder, loose files or a .zip: their paths, and a bounded way to read one.

What is never read need not be safe: it only has to be skipped. No link is followed; how much is read is bounded.
"""

import errno
import io
import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PureWindowsPath

from foundation.places import ANSWERS

from .sources import IntakeError, RefusedError

NUMBER = r"(?:-([1-9]\d{0,3})| ?\(([1-9]\d{0,3})\))"
NUMBERED = re.compile(rf"(.*[^/ ]){NUMBER}((?:\.[A-Za-z]+)*)", re.DOTALL)
MOST_NUMBERS = 3
MAX_MODULE_BYTES = 100_000
MAX_MODULES = 50
MAX_SOURCE_BYTES = 300_000  # all modules together
MAX_ANSWERS_BYTES = 20_000
MAX_NOTEBOOKS = 20
MAX_CODE_CHARACTERS = 200_000  # all cells together
MAX_ARCHIVE_BYTES = 50_000_000
MAX_ENTRIES = 50_000  # of a folder or an archive; listing is cheap
MAX_SECONDS = 60.0  # wall time for all of it; what is read within the bounds above takes far less
TRANSLATIONS = "translations.txt"
LIMITS = {
    ".py": MAX_MODULE_BYTES,
    ".ipynb": 100_000_000,  # pictures in its output included
    TRANSLATIONS: 10_000_000,
    ANSWERS: MAX_ANSWERS_BYTES,
}
"""By the end of a file's name, the most bytes that are read."""
ENTRY_OF_LISTING = b"PK\x01\x02"
STORED, DEFLATED = 0, 8
ENCRYPTED = 0x1  # the flag for a password


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
    superseded: list[str] = field(default_factory=list)  # paths of which several uploads were there
    copies: dict[str, list[tuple[tuple[int, ...], str]]] = field(default_factory=dict)  # path -> numbered files

    def add(self, name: str, read: Callable[[int], bytes], problem: str) -> None:
        """Adds a file under the path that stands for its name in the folder or the archive."""
        path, leads_elsewhere = plain_path(name)
        if path:
            problem = "it is there twice; keep one" if path in self.files else problem or leads_elsewhere
            self.files[path] = File(read, problem)
            for before, numbers in earlier_names(path):
                self.copies.setdefault(before, []).append((numbers, path))

    def find(self, path: str) -> bool:
        """True if there is such a file, be it under the name that an upload gave it: then it gets its own name back."""
        copies = sorted(copy for copy in self.copies.get(path, ()) if copy[1] in self.files)
        if not copies or (path in self.files and not self.last_counts):
            return path in self.files
        self.superseded += [path] if path in self.files else []
        *others, (_, last) = copies
        self.files[path] = self.files.pop(last)
        self.renamed[path] = last
        for _, other in others if self.last_counts else ():
            del self.files[other]
        return True

    def give_names_back(self, names: Collection[str]) -> None:
        """Does so for all files of these names, and where several uploads of a notebook or an archive are there."""
        for path in list(self.copies):
            is_repeated = self.last_counts and path in self.files and not path.endswith(".py")
            if path.rpartition("/")[2] in names or is_repeated:
                self.find(path)

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The content of a file, whose limit in bytes follows from its name if none is given.

        Raises:
            RefusedError: where it is larger or cannot be read; the reason does not name the file.
        """
        self.was_read.add(path)
        if problem := self.files[path].problem:
            raise RefusedError(problem)
        return self.files[path].read(limit or next(limit for ending, limit in LIMITS.items() if path.endswith(ending)))


def list_files(path: Path | LooseFiles) -> Tree:
    """The files of a folder, loose ones, or the one file that was handed in.

    Raises:
        RefusedError: for too many entries.
        IntakeError: where there is nothing, or it cannot be listed.
    """
    tree, n_entries = Tree(last_counts=isinstance(path, LooseFiles)), 0
    if isinstance(path, LooseFiles):
        for member, entry in path.members:
            add_from_disk(tree, member, path.folder / entry)
        return tree
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            add_from_disk(tree, path.name, path)
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
            add_from_disk(tree, str(file.relative_to(path)), file)
    return tree


def add_from_disk(tree: Tree, name: str, path: Path) -> None:
    """Adds a file that lies on the disk; a folder is none."""
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode):
        tree.add(name, partial(read_file, path), problem_of(status.st_mode))


def list_zip(content: bytes) -> Tree:
    """The members of a .zip. Nothing is unpacked to disk; they are read one by one within bounds.

    Raises:
        RefusedError: for a damaged archive, too many entries, or what is no archive by its first bytes.
    """
    if not content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        kind = "none of these" if content else "empty"
        raise RefusedError(f"expected a folder, a .zip or a notebook (.ipynb); this is {kind}")
    too_many = RefusedError(f"more than {MAX_ENTRIES:,} entries; hand in only what is asked for")
    # The library makes an object for each entry before it counts them; this bounds them.
    if content.count(ENTRY_OF_LISTING) > 4 * MAX_ENTRIES:
        raise too_many
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except Exception:  # the library raises a dozen kinds for damaged listings
        raise RefusedError("the archive is damaged or cut off; pack it again") from None
    if len(archive.infolist()) > MAX_ENTRIES:
        raise too_many
    tree = Tree()
    for entry in archive.infolist():
        name = entry.orig_filename  # `filename` ends at a NUL
        if not name.endswith(("/", "\\")) and not stat.S_ISDIR(entry.external_attr >> 16):
            tree.add(name, partial(read_member, archive, entry), problem_of_entry(entry))
    return tree


def read_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limit: int) -> bytes:
    """Reads a member of an archive. Raises: RefusedError where it is larger than the limit, or damaged."""
    check_size(entry.file_size, limit)
    try:
        with archive.open(entry) as member:
            content = member.read(entry.file_size)  # which compares the checksum
        if len(content) == entry.file_size:
            return content
    except Exception:  # noqa: S110  the library raises a dozen kinds for damaged members
        pass
    raise RefusedError("it is damaged in the archive; pack it again")


def problem_of_entry(entry: zipfile.ZipInfo) -> str:
    """Why a member is not read: a link, a device, encryption, compression that cannot be bounded; or ""."""
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) and not stat.S_ISREG(mode):
        return problem_of(mode)
    if entry.flag_bits & ENCRYPTED:
        return "it is encrypted; pack it without a password"
    if entry.compress_type not in (STORED, DEFLATED):
        return f"it is compressed by method {entry.compress_type}; use deflate, the default"
    return ""


def read_file(path: Path, limit: int) -> bytes:
    """Reads an ordinary file; follows no link, waits for no pipe, keeps no byte above the limit.

    Raises:
        RefusedError: where it is not an ordinary file, or larger.
        IntakeError: where the system does not let us read it.
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
        check_size(status.st_size, limit)
        content = file.read(limit + 1)
        check_size(len(content), limit)  # it may grow
        return content


def plain_path(name: str) -> tuple[str, str]:
    """The path that a person sees in a name, "folder/file.py", and why what bears it is not read, or "".

    A backslash stands between folders as / does, and accents are written one way. An empty path means nothing at all.
    """
    path = unicodedata.normalize("NFC", name).replace("\\", "/")
    parts = [part.strip() for part in path.split("/")]
    problem = ""
    if PureWindowsPath(path).root:  # of "/layers.py", "C:/layers.py"
        problem = "its name is an absolute path; pack the files with relative names"
    elif ".." in parts:
        problem = "its name leads out of the archive (..); pack the files with relative names"
    return "/".join(part for part in parts if part not in ("", ".", "..")), problem


def earlier_names(path: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names of a file before an upload or a browser put numbers behind its name; and these numbers.

    Canvas makes `layers-1.py` of the second upload of `layers.py`, browsers make `layers (1).py` of a second download.
    """
    numbers: tuple[int, ...] = ()
    while len(numbers) < MOST_NUMBERS and (numbered := NUMBERED.fullmatch(path)):
        stem, upload, copy, ending = numbered.groups()
        path, numbers = stem + ending, (int(upload or copy), *numbers)
        yield path, numbers


def is_clutter(path: str) -> bool:
    """True for a path that systems and tools leave behind: a hidden file, or a cache."""
    return any(part.startswith(".") or part in ("__pycache__", "__MACOSX") for part in path.split("/"))


def check_size(size: int, limit: int) -> None:
    """Raises: RefusedError where a file is larger than what is read."""
    if size > limit:
        raise RefusedError(f"it has {size:,} bytes; at most {limit:,} are read")


def problem_of(mode: int) -> str:
    """Why an entry of a folder or an archive is not read; "" for an ordinary file."""
    if stat.S_ISREG(mode):
        return ""
    return f"it is {'a symbolic link' if stat.S_ISLNK(mode) else 'no ordinary file'}; hand in ordinary files"
