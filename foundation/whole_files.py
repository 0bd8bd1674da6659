"""Files that are written whole or not at all, archives, and checks of a destination before the work begins."""

import errno
import io
import os
import secrets
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .command_line import UserError
from .texts import printable


@contextmanager
def in_one_piece(path: Path) -> Iterator[Path]:
    """Yields a path to write to; the file takes the place of `path` once the block has ended without an error.

    It is created at once, with its folder: if it cannot be written, that is known before the work inside begins. It is
    on the disk before it counts, and has the same ending, which may decide on the format. A link stays a link: its
    target is replaced. Pipes and devices are written to, never replaced. Raises: OSError, whose `filename` is set.
    """
    if is_stream(path):
        yield path
        return
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    make_folder(target.parent)
    unfinished = target.with_name(f".unfinished-{os.getpid()}-{secrets.token_hex(8)}{path.suffix}")
    try:
        unfinished.touch()
        yield unfinished
        with unfinished.open("rb+") as file:  # Windows syncs what may be written
            os.fsync(file.fileno())
        unfinished.replace(target)
    except OSError as error:
        if error.errno and error.filename is None:  # for example, if the disk is full
            error.filename = str(path)
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Creates a folder, with those above it, unless it exists; checks that files can be created in it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()  # permissions alone do not tell
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_whole(path: Path, content: bytes | str) -> None:
    """Writes a file whole or not at all; text as UTF-8, with its line ends as they are."""
    with in_one_piece(path) as unfinished:
        unfinished.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def make_zip(files: Mapping[str, bytes], programs: Collection[str] = ()) -> bytes:
    """Make an archive with sorted names, one fixed time, and fixed modes; `programs` may be executed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(files):
            member = zipfile.ZipInfo(path)  # its time is 1980, the earliest that the format knows
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3  # Unix
            member.external_attr = (0o100755 if path in programs else 0o100644) << 16
            archive.writestr(member, files[path], compresslevel=9)
    return buffer.getvalue()


def is_stream(path: Path) -> bool:
    """Return True if a path names a pipe, a device or a socket, such as `/dev/stdout` in most cases."""
    return path.exists() and not path.is_file() and not path.is_dir()


def check_file(path: Path) -> None:
    """Checks that a file of that name can be written. Raises: UserError where it cannot."""
    if path.is_dir():
        raise UserError(f"{printable(str(path))}: is a folder; expected the name of a file")
    if not is_stream(path):
        check_folder(path.parent)


def check_folder(path: Path) -> None:
    """Checks that files can be written to a folder of that name, which may not exist yet. Raises: UserError."""
    while not path.exists() and path != path.parent:
        path = path.parent
    if not path.is_dir() or not os.access(path, os.W_OK | os.X_OK):
        raise UserError(f"{printable(str(path))}: is not a folder that can be written to")
