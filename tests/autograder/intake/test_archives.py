"""A submission that is a .zip or a .tar.gz, honest or not. Nothing is written to disk."""

import gzip
import io
import os
import stat
import subprocess
import tarfile
import time
import zipfile

import pytest

from autograder.intake import archives, tree
from autograder.intake.tree import MAX_ARCHIVE_BYTES

from .conftest import LAYERS

TAR_FORMATS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
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


@pytest.mark.parametrize("arguments", [["--format=gnu"], ["--format=pax"], ["--format=v7"], ["--format=ustar"]])
def test_a_tar_as_it_comes(write_folder, write_tar, take, tmp_path, arguments):
    write_folder({"layers.py": LAYERS, "deep/" * 5 + "n.txt": "x" * 2_000, "translations.txt": "a\n" * 9_000})
    subprocess.run(["tar", "czf", "anna.tar.gz", *arguments, "anna"], cwd=tmp_path, check=True)
    intake = take(tmp_path / "anna.tar.gz")
    assert intake.sources["layers"][1] == LAYERS and len(intake.translations) == 18_000
    raw = gzip.decompress((tmp_path / "anna.tar.gz").read_bytes())
    (tmp_path / "anna.tgz").write_bytes(gzip.compress(raw[:700]) + gzip.compress(raw[700:]) + bytes(100))
    assert take(tmp_path / "anna.tgz").sources == intake.sources, "also in several streams"
    for form in TAR_FORMATS:
        assert take(write_tar(FILES, form)).submitted == {"layers"}


ODD = {
    "a named pipe": (stat.S_IFIFO, {"type": tarfile.FIFOTYPE}),
    "a device": (stat.S_IFCHR, {"type": tarfile.CHRTYPE}),
    "a device of blocks": (stat.S_IFBLK, {"type": tarfile.BLKTYPE}),
    "a socket": (stat.S_IFSOCK, None),
    "a hard link": (None, {"type": tarfile.LNKTYPE, "linkname": "layers.py"}),
    "of an unknown kind": (None, {"type": b"Z"}),
}


@pytest.mark.parametrize("kind", ODD)
def test_kinds_are_refused_where_they_are_used(write_zip, write_tar, reason, take, kind):
    mode, header = ODD[kind]
    for write, fields in ((write_zip, mode and {"external_attr": (mode | 0o777) << 16}), (write_tar, header)):
        if fields:
            used = write([("student/layers.py", "", fields)])
            assert f"'student/layers.py': it is {kind.removesuffix(' of blocks')}; hand in ordinary" in reason(used)
            assert take(write([("layers.py", LAYERS), ("data", "", fields)])).notes == ["skipped: data"]


@pytest.mark.parametrize("other", ["layers.py", "./layers.py", "layers.py\r"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_is_used_is_there_once(write_zip, write_tar, reason, other):
    for write in (write_zip, write_tar):
        assert "'layers.py': it is there twice; keep one" in reason(write([(other, LAYERS), ("layers.py", LAYERS)]))


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
        "module, bound, members, words",
        [
            (
                tree,
                "MAX_KEPT_BYTES",
                [(f"{i}.py", bytes(300)) for i in range(5)],
                "have more than 1,000 bytes; hand in",
            ),
            (archives, "MAX_ENTRIES", [(str(i), "") for i in range(1_001)], "entries; hand in only"),
        ],
    )
    def test_all_together(self, write_zip, write_tar, reason, monkeypatch, module, bound, members, words):
        monkeypatch.setattr(module, bound, 1_000)
        for write in (write_zip, write_tar):
            assert words in reason(write(members))

    def test_many_entries_are_not_even_listed(self, write_zip, reason):
        path = write_zip([("layers.py", LAYERS)])
        path.write_bytes(path.read_bytes() + b"PK\x01\x02" * 200_001)
        assert "more than 50,000 entries" in reason(path)

    def test_what_a_tar_unpacks_to(self, write_tar, reason, monkeypatch, tmp_path):
        monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 1_000_000)
        path = write_tar([("large", os.urandom(1_000_000))])
        assert "bytes when unpacked; hand in" in reason(path)
        path.write_bytes(gzip.compress(bytes(100_000_000), 1))
        started = time.process_time()
        assert "bytes when unpacked; hand in" in reason(path)
        assert time.process_time() - started < 0.5

    def test_size(self, tmp_path, reason):
        with (tmp_path / "anna.zip").open("wb") as file:
            file.truncate(MAX_ARCHIVE_BYTES + 1)
        assert f"it has {MAX_ARCHIVE_BYTES + 1:,} bytes; at most {MAX_ARCHIVE_BYTES:,}" in reason(tmp_path / "anna.zip")

    @pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE])
    def test_a_large_header(self, tmp_path, reason, kind):
        header = tarfile.TarInfo("x")
        header.type, header.size = kind, 70_000
        (tmp_path / "anna.tar.gz").write_bytes(gzip.compress(header.tobuf() + os.urandom(70_000)))
        assert "a header of more than 16,384 bytes" in reason(tmp_path / "anna.tar.gz")


class TestDamage:
    def test_a_zip_that_is_cut_off(self, write_zip, reason):
        path = write_zip([("layers.py", LAYERS * 100), ("attention.py", LAYERS * 100)])
        content = path.read_bytes()
        for length in range(5, len(content) - 1, 7):
            path.write_bytes(content[:length])
            assert "damaged or cut off" in reason(path)

    @pytest.mark.parametrize("length", [511, 512, 700, 1_024, 1_536])
    def test_a_tar_that_was_cut_off_before_it_was_packed(self, write_tar, reason, length):
        path = write_tar([("layers.py", LAYERS), ("attention.py", LAYERS)])
        path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:length]))
        assert "damaged or cut off" in reason(path)

    def test_a_damaged_header_is_not_the_end_of_a_tar(self, write_tar, reason):
        path = write_tar([("layers.py", LAYERS), ("attention.py", LAYERS)])
        raw = bytearray(gzip.decompress(path.read_bytes()))
        raw[1_024 + 148] ^= 1  # in the checksum of the second header
        path.write_bytes(gzip.compress(raw))
        assert "damaged or cut off" in reason(path)

    def test_a_wrong_checksum(self, write_zip, write_tar, reason):
        path = write_zip([("layers.py", LAYERS), ("attention.py", "x = 1\n")], zipfile.ZIP_STORED)
        path.write_bytes(path.read_bytes().replace(b"class LayerNorm", b"class layerNorm"))
        assert "'layers.py': it is damaged in the archive" in reason(path)
        path = write_tar([("layers.py", LAYERS)])
        content = bytearray(path.read_bytes())
        content[-6] ^= 1
        path.write_bytes(content)
        assert "damaged or cut off" in reason(path)

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

    @pytest.mark.parametrize("fields", [{"type": tarfile.GNUTYPE_SPARSE}, {"pax_headers": {"GNU.sparse.size": "7"}}])
    def test_a_sparse_file_hides_what_follows(self, write_tar, reason, fields):
        assert "'data' is a sparse file" in reason(write_tar([("data", "", fields)]))


def test_nothing_is_kept_of_what_does_not_count(write_tar):
    members = [("last.pt", os.urandom(1_000)), ("a/b/best.pt", b"far"), ("layers.py", LAYERS)]
    archive = archives.Tar(write_tar(members).read_bytes())
    assert archive.sizes == {"last.pt": 1_000, "a/b/best.pt": 3, "layers.py": len(LAYERS)}
    assert [path for path, kept in archive._handles.items() if kept] == ["layers.py"]
