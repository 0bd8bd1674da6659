"""A submission that is a .zip or a .tar.gz. Nothing is unpacked to disk; members are read one by one within bounds."""

import gzip
import io
import stat
import tarfile
import zipfile

from ..sources import RefusedError, quote
from .tree import MAX_ENTRIES, MAX_HEADER_BYTES, MAX_RATIO, MAX_UNPACKED_BYTES, RATIO_MATTERS_ABOVE, Tree, problem_of

ENTRY_OF_LISTING = b"PK\x01\x02"
STORED, DEFLATED = 0, 8
METHODS = {1: "shrink", 6: "implode", 9: "deflate64", 12: "bzip2", 14: "lzma", 93: "zstd", 95: "xz", 98: "ppmd"}
ENCRYPTED = 0x1 | 0x40 | 0x2000  # flags for a password, strong encryption, a hidden listing

KINDS = {
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.LNKTYPE: "a hard link",
    tarfile.FIFOTYPE: "a named pipe",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
}
CHUNK = 1 << 18
DAMAGED = "the archive is damaged or cut off; pack it again"
TOO_MANY = f"more than {MAX_ENTRIES:,} entries; hand in only what is asked for"
TOO_LARGE = f"more than {MAX_UNPACKED_BYTES:,} bytes when unpacked; hand in only what is asked for"


class Zip(Tree):
    """The members of a .zip."""

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
            raise RefusedError(DAMAGED) from None
        entries = self._archive.infolist()
        if len(entries) > MAX_ENTRIES:
            raise RefusedError(TOO_MANY)
        for entry in entries:
            name = entry.orig_filename  # `filename` ends at a NUL
            if not name.endswith(("/", "\\")) and not stat.S_ISDIR(entry.external_attr >> 16):
                self.add(name, entry.file_size, entry, problem_of_entry(entry))

    def _read(self, handle: zipfile.ZipInfo, limit: int) -> bytes:
        size, packed = handle.file_size, handle.compress_size
        if size > RATIO_MATTERS_ABOVE and size > MAX_RATIO * packed:
            raise RefusedError(f"it unpacks {packed:,} bytes to {size:,}: an archive bomb")
        try:
            with self._archive.open(handle) as member:
                content = member.read(size)  # which compares the checksum
            if len(content) == size:
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
        method = METHODS.get(entry.compress_type, "unknown")
        return f"it is compressed by method {entry.compress_type} ({method}); use deflate, the default"
    return ""


class Tar(Tree):
    """The members of a .tar.gz: one pass over the stream, which keeps the files that count in memory."""

    def __init__(self, content: bytes) -> None:
        """Reads the archive once.

        Raises:
            RefusedError: for a damaged archive, or one that is too large.
        """
        super().__init__()
        stream = _Stream(fileobj=io.BytesIO(content), mode="rb")
        try:
            with tarfile.open(fileobj=stream, mode="r:", encoding="utf-8") as archive:
                for number, header in enumerate(archive):
                    if number == MAX_ENTRIES:
                        raise RefusedError(TOO_MANY)
                    self._add(header, stream)
                stream.seek(archive.offset)  # the library takes a damaged header for the end
                if any(stream.read(tarfile.BLOCKSIZE) or b"cut off"):
                    raise RefusedError(DAMAGED)
            while stream.take(CHUNK):  # which compares the checksum
                pass
        except (RefusedError, TimeoutError):
            raise
        except Exception:  # the libraries raise a dozen kinds for damaged archives
            raise RefusedError(DAMAGED) from None

    def _add(self, header: tarfile.TarInfo, stream: "_Stream") -> None:
        if header.size < 0:
            raise RefusedError(DAMAGED)
        if header.offset_data + header.size > MAX_UNPACKED_BYTES:
            raise RefusedError(TOO_LARGE)
        if header.issparse():  # its content does not stand there as it is
            raise RefusedError(f"{quote(header.name)} is a sparse file; hand in ordinary files")
        if header.isdir():
            return
        kind = KINDS.get(header.type, "" if header.type in tarfile.REGULAR_TYPES else "of an unknown kind")
        if path := self.add(header.name, header.size, None, kind and f"it is {kind}; hand in ordinary files"):
            self._handles[path] = stream.take(header.size)

    def _read(self, handle: bytes, limit: int) -> bytes:
        return handle


class _Stream(gzip.GzipFile):
    """The unpacked content of a .gz: the library gets a header's worth at a time, and all of it is bounded."""

    def read(self, size: int | None = -1) -> bytes:
        """As a file; an extended header, which the library reads at once, has a bound."""
        if size is None or not 0 <= size <= MAX_HEADER_BYTES:
            raise RefusedError(f"a header of more than {MAX_HEADER_BYTES:,} bytes; pack it again")
        return self.take(size)

    def take(self, size: int) -> bytes:
        """So many bytes, or those that are left."""
        if self.tell() > MAX_UNPACKED_BYTES:
            raise RefusedError(TOO_LARGE)
        return super().read(size)
