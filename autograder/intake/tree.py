"""The files of a submission, be it a folder, loose files or a .zip: paths with sizes, and a bounded way to read one.

What is never read need not be safe: it only has to be skipped. No link is followed; how much is read is bounded.
"""

import errno
import io
import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from foundation.places import ANSWERS

from ..sources import IntakeError, RefusedError

UPLOADED_AGAIN = "{} was uploaded more than once; the last upload counts"
DRIVE = re.compile(r"[A-Za-z]:/")
NUMBER = r"(?:-(?P<upload>[1-9]\d{0,3})| ?\((?P<copy>[1-9]\d{0,3})\))"
NUMBERED = re.compile(rf"(?P<stem>.*[^/ ]){NUMBER}(?P<ending>(?:\.[A-Za-z]+)*)", re.DOTALL)
MOST_NUMBERS = 3
MAX_MODULE_BYTES = 100_000
MAX_MODULES = 50
MAX_SOURCE_BYTES = 300_000  # all modules together
MAX_TRANSLATIONS_BYTES = 10_000_000
MAX_ANSWERS_BYTES = 20_000
MAX_NOTEBOOK_BYTES = 100_000_000  # pictures in its output included
MAX_NOTEBOOKS = 20
MAX_CELLS = 1_000
MAX_CODE_CHARACTERS = 200_000  # all cells together
MAX_ARCHIVE_BYTES = 50_000_000
MAX_KEPT_BYTES = 120_000_000  # all files together that count
MAX_ENTRIES = 50_000  # of a folder or an archive; listing is cheap
MAX_DEPTH = 15  # of a folder
MAX_SECONDS = 60.0  # wall time for all of it; what is read within the bounds above takes far less
TRANSLATIONS = "translations.txt"


class Tree:
    """The files of a submission.

    Attributes:
        sizes: path within the submission ("student/layers.py") -> bytes.
        odd: path -> why reading it is refused: a link, a name that leads elsewhere, two files with one name.
        renamed: path -> the name that the file bears, where an upload gave it another one.
        was_read: paths of all files that something was made of.
        superseded: paths of which several uploads were there.
        last_counts: whether a platform has put numbers behind names, so that the highest is the last upload.
    """

    last_counts = False

    def __init__(self) -> None:
        """Begins without any file."""
        self.sizes: dict[str, int] = {}
        self.odd: dict[str, str] = {}
        self.renamed: dict[str, str] = {}
        self.was_read: set[str] = set()
        self.superseded: list[str] = []
        self._handles: dict[str, Any] = {}
        self._copies: dict[str, list[tuple[tuple[int, ...], bool, str]]] = {}
        self._n_readable = 0

    def add(self, name: str, size: int, handle: Any, problem: str = "") -> None:
        """Adds a file.

        Args:
            name: as the folder or the archive has it.
            size: in bytes.
            handle: by which `_read` finds it.
            problem: why it is not read, or "".

        Raises:
            RefusedError: where all that may be read is too large together.
        """
        path, leads_elsewhere = plain_path(name)
        if not path:
            return
        if problem := "it is there twice; keep one" if path in self.sizes else problem or leads_elsewhere:
            self.odd[path] = problem
        self.sizes[path], self._handles[path] = size, handle
        earlier = [*earlier_names(path)]
        for before, numbers, are_uploads in earlier:
            self._copies.setdefault(before, []).append((numbers, are_uploads, path))
        if not problem and size <= max(map(limit_of, (path, *(before for before, _, _ in earlier)))):
            self._n_readable += size
        if self._n_readable > MAX_KEPT_BYTES:
            what = f"its Python files, notebooks and translations have more than {MAX_KEPT_BYTES:,} bytes"
            raise RefusedError(f"{what}; hand in only what is asked for")

    def find(self, path: str) -> bool:
        """Whether there is such a file, be it under the name that an upload gave it: then it gets its own name back."""
        copies = [copy for copy in self._copies.get(path, ()) if copy[2] in self.sizes]
        if path in self.sizes:
            copies = [copy for copy in copies if copy[1]] if self.last_counts else []
            if not copies:
                return True
            self.superseded.append(path)
        elif not copies:
            return False
        *others, (_, _, last) = sorted(copies)
        self.odd.pop(path, None)
        if last in self.odd:
            self.odd[path] = self.odd.pop(last)
        self.sizes[path], self._handles[path] = self.sizes.pop(last), self._handles.pop(last)
        self.renamed[path] = last
        for _, _, other in others if self.last_counts else ():
            self.sizes.pop(other, None)
        return True

    def give_names_back(self, files: Collection[str]) -> None:
        """Does so for all files of these names, and where several uploads of a notebook or an archive are there."""
        for path in list(self._copies):
            is_repeated = self.last_counts and path in self.sizes and not path.endswith(".py")
            if path.rpartition("/")[2] in files or is_repeated:
                self.find(path)

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The content of a file.

        Args:
            path: one of `sizes`.
            limit: in bytes; None = that of files of its name.

        Raises:
            RefusedError: where it is larger or cannot be read; the reason does not name the file.
        """
        self.was_read.add(path)
        if path in self.odd:
            raise RefusedError(self.odd[path])
        limit = limit or limit_of(path)
        if self.sizes[path] > limit:
            raise RefusedError(too_large(self.sizes[path], limit))
        return self._read(self._handles[path], limit)

    def _read(self, handle: Any, limit: int) -> bytes:
        """The content of a file on the disk, by its path there."""
        return read_file(handle, limit)


class LooseFiles(Tree):
    """Files that lie beside those of others, as some learning platforms hand them out.

    Attributes:
        name: of the submission, for reports.
        folder: that holds them.
        members: name within the submission, name in the folder; both without a slash.
    """

    last_counts = True

    def __init__(self, name: str, folder: Path, members: tuple[tuple[str, str], ...]) -> None:
        """Looks at the files."""
        super().__init__()
        self.name, self.folder, self.members = name, folder, members
        for member, entry in members:
            status = (folder / entry).lstat()
            self.add(member, status.st_size, folder / entry, problem_of(status.st_mode))


class Folder(Tree):
    """The files of a folder."""

    def __init__(self, path: Path) -> None:
        """Lists the folder, which is no link.

        Raises:
            RefusedError: for too many entries.
            IntakeError: where it cannot be listed.
        """
        super().__init__()
        try:
            os.scandir(path).close()
        except OSError as error:
            raise IntakeError(f"{path}: {error.strerror or error}") from None
        n_entries = 0
        for folder, inner, files in os.walk(path):
            inner[:] = sorted(name for name in inner if not is_clutter(name))
            n_entries += len(inner) + len(files)
            if n_entries > MAX_ENTRIES:
                raise RefusedError(f"more than {MAX_ENTRIES:,} files and folders; hand in only what is asked for")
            for file in (Path(folder, name) for name in (*inner, *sorted(files))):
                status = file.lstat()
                if not stat.S_ISDIR(status.st_mode):
                    self.add(str(file.relative_to(path)), status.st_size, file, problem_of(status.st_mode))
            if len(Path(folder).relative_to(path).parts) > MAX_DEPTH:
                inner.clear()


ENTRY_OF_LISTING = b"PK\x01\x02"
STORED, DEFLATED = 0, 8
ENCRYPTED = 0x1  # the flag for a password
TOO_MANY = f"more than {MAX_ENTRIES:,} entries; hand in only what is asked for"


class Zip(Tree):
    """The members of a .zip. Nothing is unpacked to disk; they are read one by one within bounds."""

    def __init__(self, content: bytes) -> None:
        """Reads the listing.

        Raises:
            RefusedError: for a damaged archive, or too many entries.
        """
        super().__init__()
        # The library makes an object for each entry before it tells how many there are; this bounds them.
        if content.count(ENTRY_OF_LISTING) > 4 * MAX_ENTRIES:
            raise RefusedError(TOO_MANY)
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
        except Exception:  # the library raises a dozen kinds for damaged listings
            raise RefusedError("the archive is damaged or cut off; pack it again") from None
        entries = self._archive.infolist()
        if len(entries) > MAX_ENTRIES:
            raise RefusedError(TOO_MANY)
        for entry in entries:
            name = entry.orig_filename  # `filename` ends at a NUL
            if not name.endswith(("/", "\\")) and not stat.S_ISDIR(entry.external_attr >> 16):
                self.add(name, entry.file_size, entry, problem_of_entry(entry))

    def _read(self, handle: zipfile.ZipInfo, limit: int) -> bytes:
        try:
            with self._archive.open(handle) as member:
                content = member.read(handle.file_size)  # which compares the checksum
            if len(content) == handle.file_size:
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
        content = file.read(limit + 1) if status.st_size <= limit else b""
        if status.st_size > limit or len(content) > limit:
            raise RefusedError(too_large(status.st_size, limit))
        return content


def plain_path(name: str) -> tuple[str, str]:
    """The path that a person sees in a name, "folder/file.py", and why what bears it is not read, or "".

    A backslash stands between folders as / does, and accents are written one way. An empty path means nothing at all.
    """
    path = unicodedata.normalize("NFC", name).replace("\\", "/")
    parts = [part.strip() for part in path.split("/")]
    problem = ""
    if path.startswith("/") or DRIVE.match(path):
        problem = "its name is an absolute path; pack the files with relative names"
    elif ".." in parts:
        problem = "its name leads out of the archive (..); pack the files with relative names"
    return "/".join(part for part in parts if part not in ("", ".", "..")), problem


def earlier_names(path: str) -> Iterator[tuple[str, tuple[int, ...], bool]]:
    """What a file may have been called before an upload or a browser has put numbers behind its name.

    Canvas makes `layers-1.py` of the second upload of `layers.py`, browsers make `layers (1).py` of a second download.

    Returns:
        For each such path the numbers, and whether they are of the first kind.
    """
    numbers: tuple[int, ...] = ()
    are_uploads = True
    while len(numbers) < MOST_NUMBERS and (found := NUMBERED.fullmatch(path)):
        path = found["stem"] + found["ending"]
        numbers = (int(found["upload"] or found["copy"]), *numbers)
        are_uploads = are_uploads and bool(found["upload"])
        yield path, numbers, are_uploads


def is_clutter(path: str) -> bool:
    """Whether systems and tools leave such a path behind: a hidden file, or a cache."""
    return any(part.startswith(".") or part in ("__pycache__", "__MACOSX") for part in path.split("/"))


def too_large(size: int, limit: int) -> str:
    """The reason why a file is not read."""
    return f"it has {size:,} bytes; at most {limit:,} are read"


def problem_of(mode: int) -> str:
    """Why an entry of a folder or an archive is not read; "" for an ordinary file."""
    if stat.S_ISREG(mode):
        return ""
    return f"it is {'a symbolic link' if stat.S_ISLNK(mode) else 'no ordinary file'}; hand in ordinary files"


def limit_of(name: str) -> int:
    """The most bytes of a file that are read; 0 for files that do not count."""
    if name.endswith(".py"):
        return MAX_MODULE_BYTES
    if name.endswith(".ipynb"):
        return MAX_NOTEBOOK_BYTES
    return {TRANSLATIONS: MAX_TRANSLATIONS_BYTES, ANSWERS: MAX_ANSWERS_BYTES}.get(name.rpartition("/")[2], 0)
