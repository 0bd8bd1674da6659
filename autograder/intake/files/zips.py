"""A submission that is a .zip: members are read one by one, each up to its limit."""

import io
import stat
import zipfile
import zlib

from ..errors import RefusedError
from ..size_limits import MAX_ENTRIES, MAX_RATIO, RATIO_MATTERS_ABOVE
from .tree import Tree, problem_of

MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
ENTRY_OF_LISTING = b"PK\x01\x02"
STORED, DEFLATED = 0, 8
METHODS = {1: "shrink", 6: "implode", 9: "deflate64", 12: "bzip2", 14: "lzma", 93: "zstd", 95: "xz", 98: "ppmd"}
ENCRYPTED = 0x1 | 0x40 | 0x2000  # flags for a password, strong encryption, a hidden listing


class Zip(Tree):
    """The members of a .zip; see `tree.Tree`."""

    def __init__(self, content: bytes) -> None:
        """Reads the listing.

        Raises:
            RefusedError: for a damaged archive, or too many entries.
        """
        super().__init__()
        # The library makes an object for each entry before it tells how many there are; this bounds them.
        if content.count(ENTRY_OF_LISTING) > 4 * MAX_ENTRIES:
            raise RefusedError(f"more than {MAX_ENTRIES:,} entries; hand in only what is asked for")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
            entries = self._archive.infolist()
        except Exception as error:  # the library raises a dozen kinds for damaged listings
            raise RefusedError(f"the archive is damaged or cut off ({type(error).__name__}); pack it again") from None
        if len(entries) > MAX_ENTRIES:
            raise RefusedError(f"{len(entries):,} entries, at most {MAX_ENTRIES:,}; hand in only what is asked for")
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
                content = member.read(size)
        except Exception as error:  # the library raises a dozen kinds for damaged members
            raise RefusedError(f"it is damaged in the archive ({type(error).__name__}); pack it again") from None
        if len(content) != size or zlib.crc32(content) != handle.CRC:
            raise RefusedError("it is damaged in the archive (its checksum differs); pack it again")
        return content


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
