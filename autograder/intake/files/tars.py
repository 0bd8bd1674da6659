"""A submission that is a .tar.gz: one pass over the stream, which keeps the files that count in memory.

The library only parses single headers here. Its own loop follows chains of headers without a bound, and searches
extended headers with a pattern that takes quadratic time (fixed in Python 3.11.10, CVE-2024-6232).
"""

import tarfile
import zlib
from collections.abc import Iterator

from ..errors import RefusedError, quote
from ..size_limits import MAX_ENTRIES, MAX_UNPACKED_BYTES
from .tree import Tree, limit_of_copy

MAGIC = b"\x1f\x8b"
BLOCK = tarfile.BLOCKSIZE
CHUNK = 1 << 18
GZIP = 16 + zlib.MAX_WBITS
MAX_STREAMS = 1_000  # each costs a copy of a chunk
MAX_EXTENDED_HEADER = 1 << 16
FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
EXTENDED = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE)
WITHOUT_CONTENT = {
    tarfile.DIRTYPE: "a folder",
    tarfile.LNKTYPE: "a hard link",
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a named pipe",
}
ONLY_FILES = "hand in ordinary files"
CUT_OFF = "the archive is damaged or cut off; pack it again"


class Tar(Tree):
    """The members of a .tar.gz; see `tree.Tree`."""

    def __init__(self, content: bytes) -> None:
        """Reads the archive once, and keeps the files that may count.

        Raises:
            RefusedError: for a damaged archive, or one that is too large.
        """
        super().__init__()
        stream = Gunzipped(content)
        for header in headers(stream):
            if header.type == tarfile.GNUTYPE_SPARSE:  # its content does not stand there as it is
                raise RefusedError(f"{quote(header.name)} is a sparse file; {ONLY_FILES}")
            if header.type in WITHOUT_CONTENT:
                if header.type != tarfile.DIRTYPE:
                    self.add(header.name, 0, None, f"it is {WITHOUT_CONTENT[header.type]}; {ONLY_FILES}")
                continue
            problem = "" if header.type in FILES else f"it is of an unknown kind; {ONLY_FILES}"
            path = self.add(header.name, header.size, None, problem)
            if path and path not in self.odd and header.size <= limit_of_copy(path):
                self._handles[path] = stream.take(header.size)
            else:
                stream.skip(header.size)
            stream.skip(-header.size % BLOCK)
        stream.finish()

    def _read(self, handle: bytes, limit: int) -> bytes:
        return handle


def headers(stream: "Gunzipped") -> Iterator[tarfile.TarInfo]:
    """The headers up to the end mark, with their long names; the caller takes or skips each entry's content."""
    long_name: str | None = None
    n_entries = 0
    while True:
        block = stream.take(BLOCK)
        if not any(block):
            return
        n_entries += 1
        if n_entries > MAX_ENTRIES:
            raise RefusedError(f"more than {MAX_ENTRIES:,} entries; hand in only what is asked for")
        try:
            header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except (tarfile.HeaderError, ValueError, OverflowError):
            raise RefusedError(CUT_OFF) from None
        if header.size < 0:
            raise RefusedError(CUT_OFF)
        if header.type in EXTENDED:
            if header.size > MAX_EXTENDED_HEADER:
                raise RefusedError(f"a header of {header.size:,} bytes; at most {MAX_EXTENDED_HEADER:,} are read")
            data = stream.take(header.size)
            stream.skip(-header.size % BLOCK)
            if header.type == tarfile.GNUTYPE_LONGNAME:
                long_name = data.rstrip(b"\0").decode("utf-8", "surrogateescape")
            elif header.type == tarfile.XHDTYPE:
                long_name = pax_name(data) or long_name
            continue
        if long_name is not None:
            header.name, long_name = long_name, None
        yield header


def pax_name(data: bytes) -> str | None:
    """The file name in an extended header, which is a sequence of records `length key=value`.

    Raises:
        RefusedError: for a damaged header, or one that changes more than the file's name and times.
    """
    name = None
    while data:
        number, _, _ = data.partition(b" ")
        length = int(number) if number.isdigit() and len(number) < 7 else 0
        record, data = data[len(number) + 1 : length], data[length:]
        key, equals, value = record[:-1].partition(b"=")
        if not equals or not record.endswith(b"\n") or len(number) + 1 + len(record) != length:
            raise RefusedError(CUT_OFF)
        if key == b"path":
            name = value.decode("utf-8", "surrogateescape")
        elif key == b"size" or key.startswith(b"GNU.sparse"):
            raise RefusedError(
                f"an entry with the extended header {quote(key.decode('ascii', 'replace'))}; {ONLY_FILES}"
            )
    return name


class Gunzipped:
    """The unpacked content of a .gz, read from front to end within bounds."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0  # position in the content up to which the inflater has it
        self._inflater = zlib.decompressobj(wbits=GZIP)
        self._n_streams = 1
        self._ready = b""
        self._unpacked = 0
        self._is_at_end = False

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        parts = []
        while count:
            part = self._next()[:count]
            self._ready = self._ready[len(part) :]
            count -= len(part)
            parts.append(part)
        return b"".join(parts)

    def skip(self, count: int) -> None:
        """Skips the next `count` bytes."""
        while count:
            step = min(count, len(self._next()))
            self._ready = self._ready[step:]
            count -= step

    def finish(self) -> None:
        """Skips the rest, so that the checksum at the end is verified."""
        while not self._is_at_end:
            self._inflate()

    def _next(self) -> bytes:
        while not self._ready:
            if self._is_at_end:
                raise RefusedError(CUT_OFF)
            self._inflate()
        return self._ready

    def _inflate(self) -> None:
        """Replaces the current chunk by the next one."""
        if self._inflater.eof and not self._begin_next_stream():
            self._is_at_end, self._ready = True, b""
            return
        source = self._inflater.unconsumed_tail
        if not source:
            source = self._content[self._at : self._at + CHUNK]
            self._at += len(source)
        try:
            self._ready = self._inflater.decompress(source, CHUNK)
        except zlib.error:
            raise RefusedError(CUT_OFF) from None
        if not source and not self._ready and not self._inflater.eof:
            raise RefusedError(CUT_OFF)
        self._unpacked += len(self._ready)
        if self._unpacked > MAX_UNPACKED_BYTES:
            raise RefusedError(f"more than {MAX_UNPACKED_BYTES:,} bytes when unpacked")

    def _begin_next_stream(self) -> bool:
        """Begins the next of several concatenated streams; whatever follows the last one is padding."""
        self._at -= len(self._inflater.unused_data)
        if self._content[self._at : self._at + len(MAGIC)] != MAGIC:
            return False
        self._n_streams += 1
        if self._n_streams > MAX_STREAMS:
            raise RefusedError(
                f"more than {MAX_STREAMS:,} compressed streams in one archive; pack it with tar and gzip"
            )
        self._inflater = zlib.decompressobj(wbits=GZIP)
        return True
