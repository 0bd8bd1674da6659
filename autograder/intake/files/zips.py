"""A submission that is a .zip: members are read one by one, each up to its limit."""

import io
import stat
import zipfile
import zlib

from ..errors import RefusedError, quote
from ..size_limits import MAX_MEMBERS, MAX_RATIO, MAX_UNPACKED_BYTES, RATIO_MATTERS_ABOVE, limit_of
from .path_checks import check_clashes, check_name
from .tree import kind_of, too_large

MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
ENTRY_OF_LISTING = b"PK\x01\x02"
STORED, DEFLATED = 0, 8
METHODS = {1: "shrink", 6: "implode", 9: "deflate64", 12: "bzip2", 14: "lzma", 93: "zstd", 95: "xz", 98: "ppmd"}
ENCRYPTED = 0x1 | 0x40 | 0x2000  # flags for a password, strong encryption, a hidden listing


class Zip:
    """The members of a .zip; see `tree.Tree`."""

    def __init__(self, content: bytes) -> None:
        """Reads the listing.

        Raises:
            RefusedError: for a damaged archive, or an entry that is not accepted.
        """
        # The library makes an object for each entry before it tells how many there are; this bounds them.
        if content.count(ENTRY_OF_LISTING) > 4 * MAX_MEMBERS:
            raise RefusedError(f"more than {MAX_MEMBERS:,} entries; hand in only what is asked for")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
            entries = self._archive.infolist()
        except Exception as error:  # the library raises a dozen kinds for damaged listings
            raise RefusedError(f"the archive is damaged or cut off ({type(error).__name__}); pack it again") from None
        if len(entries) > MAX_MEMBERS:
            raise RefusedError(f"{len(entries):,} entries, at most {MAX_MEMBERS:,}; hand in only what is asked for")
        self._entries: dict[str, zipfile.ZipInfo] = {}
        names = []
        for entry in entries:
            name = check_name(entry.orig_filename)  # `filename` ends at a NUL
            if check_entry(entry):
                if not name:
                    raise RefusedError(f"{quote(entry.orig_filename)} is a file without a name; pack it again")
                self._entries[name] = entry
                names.append(name)
        check_clashes(names)
        self.sizes = {name: entry.file_size for name, entry in self._entries.items()}
        unpacked = sum(entry.file_size for entry in entries)
        if unpacked > MAX_UNPACKED_BYTES:
            raise RefusedError(f"{unpacked:,} bytes when unpacked, at most {MAX_UNPACKED_BYTES:,}")

    def look_into(self, folder: str) -> None:
        """Does nothing: `sizes` is complete."""

    def look_deeper(self) -> None:
        """Does nothing: `sizes` is complete."""

    def read(self, name: str) -> bytes:
        """The content of a member; see `tree.Tree`."""
        entry, limit = self._entries[name], limit_of(name)
        if entry.file_size > limit:
            raise RefusedError(too_large(entry.file_size, limit))
        try:
            with self._archive.open(entry) as member:
                content = member.read(entry.file_size)
        except Exception as error:  # the library raises a dozen kinds for damaged members
            raise RefusedError(f"it is damaged in the archive ({type(error).__name__}); pack it again") from None
        if len(content) != entry.file_size or zlib.crc32(content) != entry.CRC:
            raise RefusedError("it is damaged in the archive (its checksum differs); pack it again")
        return content


def check_entry(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry is a file (not a folder).

    Raises:
        RefusedError: for links, devices, encryption, compression that cannot be bounded, and bombs.
    """
    name = quote(entry.orig_filename)
    mode = entry.external_attr >> 16
    is_folder = entry.orig_filename.endswith("/") or stat.S_ISDIR(mode)
    if stat.S_IFMT(mode) and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise RefusedError(f"{name} is {kind_of(mode)}; pack ordinary files only")
    if entry.flag_bits & ENCRYPTED:
        raise RefusedError(f"{name} is encrypted; pack it without a password")
    if entry.compress_type not in (STORED, DEFLATED):
        method = METHODS.get(entry.compress_type, "unknown")
        raise RefusedError(f"{name} is compressed by method {entry.compress_type} ({method}); use deflate, the default")
    if is_folder and entry.file_size:
        raise RefusedError(f"{name} is a folder with content; pack it again")
    if entry.file_size > RATIO_MATTERS_ABOVE and entry.file_size > MAX_RATIO * entry.compress_size:
        raise RefusedError(f"{name} unpacks {entry.compress_size:,} bytes to {entry.file_size:,}: an archive bomb")
    return not is_folder
