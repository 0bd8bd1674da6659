"""A submission that is a .zip, honest or not. Nothing is written to disk."""

import io
import stat
import zipfile

import pytest

from autograder.intake.files import tree, zips
from autograder.intake.size_limits import MAX_ARCHIVE_BYTES

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


def test_a_name_that_ends_at_a_nul(write_zip, take):
    path = write_zip([("layers.py", LAYERS), ("masks.pyXevil", "1/0")])
    path.write_bytes(path.read_bytes().replace(b"masks.pyXevil", b"masks.py\0evil"))
    intake = take(path)
    assert intake.submitted == {"layers"} and intake.notes == ["skipped: masks.py\\x00evil"]


@pytest.mark.parametrize("other", ["layers.py", "./layers.py", "layers.py\r"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_is_used_is_there_once(write_zip, reason, other):
    assert "it is there twice; keep one" in reason(write_zip([(other, LAYERS), ("layers.py", LAYERS)]))


@pytest.mark.parametrize(
    "mode, kind",
    [
        (stat.S_IFIFO, "a named pipe"),
        (stat.S_IFCHR, "a device"),
        (stat.S_IFBLK, "a device"),
        (stat.S_IFSOCK, "a socket"),
    ],
)
def test_kinds_are_refused_where_they_are_used(write_zip, reason, take, mode, kind):
    odd = {"external_attr": (mode | 0o777) << 16}
    used = write_zip([(member("student/layers.py", **odd), "/etc/passwd")])
    assert f"'student/layers.py': it is {kind}; hand in ordinary files" in reason(used)
    assert take(write_zip([("layers.py", LAYERS), (member("data", **odd), "/etc/passwd")])).notes == ["skipped: data"]


@pytest.mark.parametrize("flag", [0x1, 0x40, 0x2000])
def test_encryption_is_refused(write_zip, reason, flag):
    path = write_zip([("layers.py", LAYERS)])
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.index(signature) + offset
        content[at : at + 2] = flag.to_bytes(2, "little")
    path.write_bytes(content)
    assert "'layers.py': it is encrypted; pack it without a password" in reason(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_cannot_be_bounded(write_zip, reason, method):
    assert f"compressed by method {method}" in reason(write_zip([("layers.py", LAYERS)], compression=method))


class TestBombs:
    def test_ratio(self, write_zip, reason):
        assert "'work.ipynb': it unpacks" in reason(write_zip([("work.ipynb", bytes(3_000_000))]))

    def test_claimed_size(self, write_zip, reason, take):
        for name in ("layers.py", "large.bin"):
            path = write_zip([("masks.py", ""), (name, b"")])
            content = bytearray(path.read_bytes())
            at = content.rindex(b"PK\x01\x02") + 20
            content[at : at + 8] = (10**9).to_bytes(4, "little") + (10**9).to_bytes(4, "little")
            path.write_bytes(content)
            if name == "layers.py":
                assert "'layers.py': it has 1,000,000,000 bytes" in reason(path)
            else:
                assert take(path).submitted == {"masks"}

    def test_what_may_be_read_is_bounded_in_all(self, write_zip, reason, monkeypatch):
        monkeypatch.setattr(tree, "MAX_KEPT_BYTES", 5_000)
        assert "have more than 5,000 bytes; hand in" in reason(write_zip([(f"{i}.py", bytes(1_000)) for i in range(6)]))

    def test_count(self, write_zip, reason, monkeypatch):
        monkeypatch.setattr(zips, "MAX_ENTRIES", 100)
        assert "101 entries, at most 100" in reason(write_zip([(f"{i}", "") for i in range(101)]))

    def test_many_entries_are_not_even_listed(self, write_zip, reason):
        path = write_zip([("layers.py", LAYERS)])
        path.write_bytes(path.read_bytes() + b"PK\x01\x02" * 200_001)
        assert "more than 50,000 entries" in reason(path)

    def test_size(self, tmp_path, reason):
        with (tmp_path / "anna.zip").open("wb") as file:
            file.truncate(MAX_ARCHIVE_BYTES + 1)
        assert f"it has {MAX_ARCHIVE_BYTES + 1:,} bytes; at most {MAX_ARCHIVE_BYTES:,}" in reason(tmp_path / "anna.zip")

    def test_an_archive_in_an_archive(self, write_zip, reason):
        assert "'inner.zip' is another archive" in reason(write_zip([("inner.zip", b"PK")]))


class TestDamage:
    def test_cut_off(self, write_zip, reason):
        path = write_zip([("layers.py", LAYERS * 100), ("attention.py", LAYERS * 100)])
        content = path.read_bytes()
        for length in range(5, len(content) - 1, 7):
            path.write_bytes(content[:length])
            assert "damaged or cut off" in reason(path)

    def test_a_wrong_checksum(self, write_zip, reason):
        path = write_zip([("layers.py", LAYERS), ("attention.py", "x = 1\n")], compression=zipfile.ZIP_STORED)
        path.write_bytes(path.read_bytes().replace(b"class LayerNorm", b"class layerNorm"))
        assert "'layers.py': it is damaged in the archive" in reason(path)

    def test_two_names_for_one_member(self, write_zip, reason):
        path = write_zip([("layers.py", LAYERS)])
        content = path.read_bytes()
        path.write_bytes(content.replace(b"layers.py", b"config.py", 1))  # in the member's own header
        assert "'layers.py': it is damaged in the archive" in reason(path)

    def test_overlapping_members(self, write_zip, reason):
        path = write_zip([("layers.py", LAYERS), ("masks.py", LAYERS)])
        content = bytearray(path.read_bytes())
        at = content.rindex(b"PK\x01\x02") + 42
        content[at : at + 4] = (0).to_bytes(4, "little")
        path.write_bytes(content)
        assert "'masks.py': it is damaged" in reason(path)
