"""A submission that is a .zip, honest or not. Nothing is written to disk."""

import io
import stat
import zipfile

import pytest

from autograder.intake import tree
from autograder.intake.tree import MAX_ARCHIVE_BYTES

from .conftest import LAYERS

LONG = "a-folder-with-a-long-name/" * 6
FILES = [
    ("anna/layers.py", LAYERS),
    (f"anna/{LONG}r\u00e9sum\u00e9.txt", "x" * 2_000),
    ("anna/translations.txt", "a\n"),
]


def test_a_zip_as_it_comes(write_zip, take, tmp_path):
    class Unseekable(io.RawIOBase):
        def __init__(self, file):
            self.file = file

        def writable(self):
            return True

        def write(self, data):
            return self.file.write(data)

    with (tmp_path / "stream.zip").open("wb") as file, zipfile.ZipFile(Unseekable(file), "w") as archive:
        for name, text in FILES:
            archive.writestr(name, text)
    for path in (tmp_path / "stream.zip", write_zip([("anna/", ""), *FILES]), write_zip(FILES, zipfile.ZIP_STORED)):
        intake = take(path)
        assert intake.sources["layers"] == ("layers.py", LAYERS) and intake.translations == b"a\n"
        assert sorted(intake.hashes) == sorted([path.name, "layers.py", "translations.txt"]) and intake.notes == []


KINDS = {"a named pipe": stat.S_IFIFO, "a device": stat.S_IFCHR, "a socket": stat.S_IFSOCK}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_refused_where_they_are_used(write_zip, reason, take, kind):
    fields = {"external_attr": (KINDS[kind] | 0o777) << 16}
    assert f"'student/layers.py': it is {kind}; hand in ordinary" in reason(
        write_zip([("student/layers.py", "", fields)])
    )
    assert take(write_zip([("layers.py", LAYERS), ("data", "", fields)])).notes == ["skipped: data"]


@pytest.mark.parametrize("other", ["layers.py", "./layers.py", "layers.py\r"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_is_used_is_there_once(write_zip, reason, other):
    assert "'layers.py': it is there twice; keep one" in reason(write_zip([(other, LAYERS), ("layers.py", LAYERS)]))


def test_a_name_that_ends_at_a_nul(write_zip, take):
    path = write_zip([("layers.py", LAYERS), ("masks.pyXevil", "1/0")])
    path.write_bytes(path.read_bytes().replace(b"masks.pyXevil", b"masks.py\0evil"))
    intake = take(path)
    assert intake.submitted == {"layers"} and intake.notes == ["skipped: masks.py\\x00evil"]


class TestBounds:
    @pytest.mark.parametrize("name", ["layers.py", "large.bin"])
    def test_a_size_that_a_zip_claims(self, write_zip, reason, take, name):
        path = write_zip([("masks.py", ""), (name, b"")])
        content = bytearray(path.read_bytes())
        at = content.rindex(b"PK\x01\x02") + 20
        content[at : at + 8] = (10**9).to_bytes(4, "little") * 2
        path.write_bytes(content)
        if name == "layers.py":
            assert "'layers.py': it has 1,000,000,000 bytes" in reason(path)
        else:
            assert take(path).submitted == {"masks"}

    def test_ratio(self, write_zip, reason):
        assert "'work.ipynb': it unpacks" in reason(write_zip([("work.ipynb", bytes(3_000_000))]))

    @pytest.mark.parametrize(
        "bound, members, words",
        [
            ("MAX_KEPT_BYTES", [(f"{i}.py", bytes(300)) for i in range(5)], "have more than 1,000 bytes; hand in"),
            ("MAX_ENTRIES", [(str(i), "") for i in range(1_001)], "entries; hand in only"),
        ],
    )
    def test_all_together(self, write_zip, reason, monkeypatch, bound, members, words):
        monkeypatch.setattr(tree, bound, 1_000)
        assert words in reason(write_zip(members))

    def test_many_entries_are_not_even_listed(self, write_zip, reason):
        path = write_zip([("layers.py", LAYERS)])
        path.write_bytes(path.read_bytes() + b"PK\x01\x02" * 200_001)
        assert "more than 50,000 entries" in reason(path)

    def test_size(self, tmp_path, reason):
        with (tmp_path / "anna.zip").open("wb") as file:
            file.truncate(MAX_ARCHIVE_BYTES + 1)
        assert f"it has {MAX_ARCHIVE_BYTES + 1:,} bytes; at most {MAX_ARCHIVE_BYTES:,}" in reason(tmp_path / "anna.zip")


class TestDamage:
    def test_a_zip_that_is_cut_off(self, write_zip, reason):
        path = write_zip([("layers.py", LAYERS * 100), ("attention.py", LAYERS * 100)])
        content = path.read_bytes()
        for length in range(5, len(content) - 1, 7):
            path.write_bytes(content[:length])
            assert "damaged or cut off" in reason(path)

    def test_a_wrong_checksum(self, write_zip, reason):
        path = write_zip([("layers.py", LAYERS), ("attention.py", "x = 1\n")], zipfile.ZIP_STORED)
        path.write_bytes(path.read_bytes().replace(b"class LayerNorm", b"class layerNorm"))
        assert "'layers.py': it is damaged in the archive" in reason(path)

    @pytest.mark.parametrize("flag", [0x1, 0x40, 0x2000])
    def test_encryption(self, write_zip, reason, flag):
        path = write_zip([("layers.py", LAYERS)])
        content = bytearray(path.read_bytes())
        for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            at = content.index(signature) + offset
            content[at : at + 2] = flag.to_bytes(2, "little")
        path.write_bytes(content)
        assert "'layers.py': it is encrypted; pack it without a password" in reason(path)

    @pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_methods_that_cannot_be_bounded(self, write_zip, reason, method):
        assert f"compressed by method {method}" in reason(write_zip([("layers.py", LAYERS)], method))
