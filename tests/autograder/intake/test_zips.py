"""A submission that is a .zip, honest or not. Nothing is written to disk."""

import io
import stat
import zipfile

import pytest

from autograder.intake.files import zips
from autograder.intake.size_limits import MAX_ARCHIVE_BYTES, MAX_MODULE_BYTES, MAX_UNPACKED_BYTES

from .conftest import LAYERS


def member(name: str, **fields: object) -> zipfile.ZipInfo:
    """An entry with fields of its own."""
    entry = zipfile.ZipInfo(name)
    for field, value in fields.items():
        setattr(entry, field, value)
    return entry


def test_a_usual_one(write_zip, take):
    path = write_zip([("anna/", ""), ("anna/layers.py", LAYERS), ("anna/translations.txt", "a\n")])
    intake = take(path)
    assert intake.sources["layers"] == ("layers.py", LAYERS) and intake.translations == b"a\n"
    assert sorted(intake.hashes) == ["anna.zip", "layers.py", "translations.txt"] and intake.notes == []


def test_stored_members(write_zip, take):
    assert take(write_zip([("layers.py", LAYERS)], compression=zipfile.ZIP_STORED)).submitted == {"layers"}


def test_what_a_mac_leaves_behind(write_zip, take):
    clutter = [(name, b"\0") for name in ("__MACOSX/._layers.py", "._layers.py", ".DS_Store", "__MACOSX/a/layers.py")]
    intake = take(write_zip([("layers.py", LAYERS), *clutter]))
    assert intake.submitted == {"layers"} and intake.notes == []


def test_what_a_stream_leaves_behind(tmp_path, take):
    class Unseekable(io.RawIOBase):
        def __init__(self, file):
            self.file = file

        def writable(self):
            return True

        def write(self, data):
            return self.file.write(data)

    with (tmp_path / "anna.zip").open("wb") as file, zipfile.ZipFile(Unseekable(file), "w") as archive:
        archive.writestr("layers.py", LAYERS)
    assert take(tmp_path / "anna.zip").submitted == {"layers"}


@pytest.mark.parametrize(
    "name, message",
    [
        ("/etc/layers.py", "'/etc/layers.py' is an absolute path"),
        ("../layers.py", "'../layers.py' leads out of the archive"),
        ("a/../../layers.py", "leads out of the archive"),
        ("a\\layers.py", "has a backslash in its name"),
        ("C:layers.py", "has a colon in its name"),
        ("layers.py:hidden", "has a colon in its name"),
        ("lay\x1bers.py", "'lay\\x1bers.py' has control characters in its name"),
        ("layers.py\n", "has control characters in its name"),
        ("sre\u202eyp.layers", "'sre\\u202eyp.layers' has control characters in its name"),
        ("/".join("abcdefghijklmnopq") + "/layers.py", "is 18 folders deep; at most 15"),
        ("x" * 500, "a name of 500 characters"),
    ],
)
def test_names_are_refused(write_zip, reason, name, message):
    assert message in reason(write_zip([("layers.py", LAYERS), (member("x"), ""), (renamed(name), "x")]))


def renamed(name: str) -> zipfile.ZipInfo:
    """An entry whose name the library has not made harmless."""
    entry = zipfile.ZipInfo("x")
    entry.filename = entry.orig_filename = name
    return entry


def test_a_name_that_ends_at_a_nul(write_zip, reason):
    path = write_zip([("layers.pyXevil", LAYERS)])
    path.write_bytes(path.read_bytes().replace(b"layers.pyXevil", b"layers.py\0evil"))
    assert "'layers.py\\x00evil' has control characters" in reason(path)


@pytest.mark.parametrize(
    "names, message",
    [
        (["layers.py", "layers.py"], "'layers.py' appears twice"),
        (["layers.py", "./layers.py"], "'layers.py' appears twice"),
        (["layers.py", "Layers.py"], "'Layers.py' and 'layers.py' differ only in case"),
        (["a/x", "A/y"], "'A' and 'a' differ only in case"),
        (["a/x", "a"], "'a' is both a file and a folder"),
        (["a", "a/x"], "'a' is both a file and a folder"),
        (["caf\u00e9", "cafe\u0301"], "differ only in case or accents"),
        (["layers.py", "layers.py."], "differ only in case"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_clashes_are_refused(write_zip, reason, names, message):
    assert message in reason(write_zip([(name, LAYERS) for name in names]))


@pytest.mark.parametrize(
    "mode, message",
    [
        (stat.S_IFLNK, "is a symbolic link"),
        (stat.S_IFIFO, "is a named pipe"),
        (stat.S_IFCHR, "is a device"),
        (stat.S_IFBLK, "is a device"),
        (stat.S_IFSOCK, "is a socket"),
    ],
)
def test_kinds_are_refused(write_zip, reason, mode, message):
    link = member("student/data", external_attr=(mode | 0o777) << 16)
    assert f"'student/data' {message}" in reason(write_zip([("layers.py", LAYERS), (link, "/etc/passwd")]))


@pytest.mark.parametrize("flag", [0x1, 0x40, 0x2000])
def test_encryption_is_refused(write_zip, reason, flag):
    path = write_zip([("layers.py", LAYERS)])
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.index(signature) + offset
        content[at : at + 2] = flag.to_bytes(2, "little")
    path.write_bytes(content)
    assert "'layers.py' is encrypted; pack it without a password" in reason(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_cannot_be_bounded(write_zip, reason, method):
    assert f"compressed by method {method}" in reason(write_zip([("layers.py", LAYERS)], compression=method))


class TestBombs:
    def test_ratio(self, write_zip, reason):
        assert "an archive bomb" in reason(write_zip([("zeros.bin", bytes(3_000_000))]))

    def test_total(self, write_zip, reason, monkeypatch):
        monkeypatch.setattr(zips, "MAX_UNPACKED_BYTES", 5_000)
        assert "bytes when unpacked" in reason(write_zip([(f"{i}", bytes(1_000)) for i in range(6)]))

    def test_claimed_total(self, write_zip, reason):
        path = write_zip([("layers.py", LAYERS), ("large.bin", b"")])
        content = bytearray(path.read_bytes())
        at = content.rindex(b"PK\x01\x02") + 20
        content[at : at + 8] = (10**9).to_bytes(4, "little") + (MAX_UNPACKED_BYTES + 1).to_bytes(4, "little")
        path.write_bytes(content)
        assert "bytes when unpacked, at most" in reason(path)

    def test_count(self, write_zip, reason):
        assert "entries, at most 5,000" in reason(write_zip([(f"{i}", "") for i in range(5_001)]))

    def test_many_entries_are_not_even_listed(self, write_zip, reason):
        path = write_zip([("layers.py", LAYERS)])
        path.write_bytes(path.read_bytes() + b"PK\x01\x02" * 20_001)
        assert "more than 5,000 entries" in reason(path)

    def test_size(self, tmp_path, reason):
        with (tmp_path / "anna.zip").open("wb") as file:
            file.truncate(MAX_ARCHIVE_BYTES + 1)
        assert f"it has {MAX_ARCHIVE_BYTES + 1:,} bytes; at most {MAX_ARCHIVE_BYTES:,}" in reason(tmp_path / "anna.zip")

    def test_an_archive_in_an_archive(self, write_zip, reason):
        assert "'inner.zip' is another archive" in reason(write_zip([("inner.zip", b"PK")]))

    def test_a_large_module_costs_itself_alone(self, write_zip, take):
        large = "#" * MAX_MODULE_BYTES + "\n"
        intake = take(write_zip([("layers.py", large), ("attention.py", "x = 1\n")]))
        reason = f"layers.py: it has {MAX_MODULE_BYTES + 1:,} bytes; at most {MAX_MODULE_BYTES:,} are read"
        assert intake.notes == [reason] and intake.sources["attention"][1] == "x = 1\n"
        with pytest.raises(ImportError, match="layers.py: it has"):
            exec(intake.sources["layers"][1])


class TestDamage:
    def test_cut_off(self, write_zip, reason):
        path = write_zip([("layers.py", LAYERS * 100), ("attention.py", LAYERS * 100)])
        content = path.read_bytes()
        for length in range(5, len(content) - 1, 7):
            path.write_bytes(content[:length])
            assert "damaged or cut off" in reason(path)

    def test_a_wrong_checksum(self, write_zip, take):
        path = write_zip([("layers.py", LAYERS), ("attention.py", "x = 1\n")], compression=zipfile.ZIP_STORED)
        path.write_bytes(path.read_bytes().replace(b"class LayerNorm", b"class layerNorm"))
        intake = take(path)
        assert "layers.py: it is damaged in the archive" in intake.notes[0]
        assert intake.sources["attention"][1] == "x = 1\n"

    def test_two_names_for_one_member(self, write_zip, take):
        path = write_zip([("layers.py", LAYERS)])
        content = path.read_bytes()
        path.write_bytes(content.replace(b"layers.py", b"config.py", 1))  # in the member's own header
        assert "damaged" in take(path).notes[0]

    def test_overlapping_members(self, write_zip, take):
        path = write_zip([("layers.py", LAYERS), ("masks.py", LAYERS)])
        content = bytearray(path.read_bytes())
        at = content.rindex(b"PK\x01\x02") + 42
        content[at : at + 4] = (0).to_bytes(4, "little")
        path.write_bytes(content)
        assert "masks.py: it is damaged" in take(path).notes[0]
