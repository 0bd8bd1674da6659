"""A submission that is a .tar.gz, honest or not."""

import gzip
import io
import os
import subprocess
import tarfile
import time

import pytest

from autograder.intake.files import tars, tree

from .conftest import LAYERS

FORMS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
LONG = "a-folder-with-a-long-name/" * 6


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["anna.tar.gz", "anna.tgz"])
def test_usual_ones(write_tar, take, form, name):
    members = [("./", "", {"type": tarfile.DIRTYPE}), ("./student/layers.py", LAYERS), ("./translations.txt", "a\n")]
    intake = take(write_tar(members, form, name))
    assert intake.name == "anna" and intake.notes == []
    assert intake.sources["layers"] == ("layers.py", LAYERS) and intake.translations == b"a\n"


@pytest.mark.parametrize("form", FORMS)
def test_long_names(write_tar, take, form):
    members = [(f"{LONG}notes.txt", "x"), ("layers.py", LAYERS), (f"{LONG}r\u00e9sum\u00e9.txt", "")]
    assert take(write_tar(members, form)).submitted == {"layers"}


@pytest.mark.parametrize("arguments", [["--format=gnu"], ["--format=pax"], ["--format=v7"], ["--format=ustar"]])
def test_what_tar_itself_writes(write_folder, take, tmp_path, arguments):
    write_folder({"layers.py": LAYERS, "deep/" * 5 + "n.txt": "x" * 2_000, "translations.txt": "a\n" * 9_000})
    command = ["tar", "czf", "anna.tar.gz", *arguments, "anna"]
    subprocess.run(command, cwd=tmp_path, check=True)
    intake = take(tmp_path / "anna.tar.gz")
    assert intake.sources["layers"][1] == LAYERS and len(intake.translations) == 18_000


def test_several_streams_in_a_row(write_tar, take):
    path = write_tar([("layers.py", LAYERS)])
    raw = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(raw[:700]) + gzip.compress(raw[700:]) + bytes(100))
    assert take(path).submitted == {"layers"}


@pytest.mark.parametrize("form", FORMS[1:])
def test_long_names_are_looked_at_too(write_tar, reason, form):
    assert "leads out of the archive" in reason(write_tar([(f"{'./' * 80}../layers.py", "x")], form))


@pytest.mark.parametrize(
    "fields, kind",
    [
        ({"type": tarfile.LNKTYPE, "linkname": "layers.py"}, "a hard link"),
        ({"type": tarfile.FIFOTYPE}, "a named pipe"),
        ({"type": tarfile.CHRTYPE}, "a device"),
        ({"type": tarfile.BLKTYPE}, "a device"),
        ({"type": b"Z"}, "of an unknown kind"),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_kinds_are_refused_where_they_are_used(write_tar, reason, take, fields, kind, form):
    assert f"'layers.py': it is {kind}; hand in ordinary files" in reason(write_tar([("layers.py", "", fields)], form))
    intake = take(write_tar([("data", "", fields), ("layers.py", LAYERS)], form))
    assert intake.submitted == {"layers"} and intake.notes == ["skipped: data"]


@pytest.mark.parametrize("form", FORMS)
def test_a_sparse_file_hides_what_follows(write_tar, reason, form):
    assert "'data' is a sparse file" in reason(write_tar([("data", "", {"type": tarfile.GNUTYPE_SPARSE})], form))


def test_a_file_that_is_used_is_there_once(write_tar, reason):
    assert "it is there twice; keep one" in reason(write_tar([(name, LAYERS) for name in ("layers.py", "./layers.py")]))


class TestBombs:
    def test_nothing_but_zeros(self, tmp_path, reason):
        (tmp_path / "anna.tar.gz").write_bytes(gzip.compress(bytes(100_000_000), 1))
        started = time.process_time()
        assert "none of the assignment's files" in reason(tmp_path / "anna.tar.gz")
        assert time.process_time() - started < 0.5

    def test_total(self, write_tar, reason, monkeypatch):
        monkeypatch.setattr(tars, "MAX_UNPACKED_BYTES", 1_000_000)
        assert "more than 1,000,000 bytes when unpacked" in reason(write_tar([("large", os.urandom(1_000_000))]))

    def test_what_may_be_read_is_bounded_in_all(self, write_tar, reason, monkeypatch):
        monkeypatch.setattr(tree, "MAX_KEPT_BYTES", 1_000)
        assert "have more than 1,000 bytes; hand in" in reason(write_tar([(f"{i}.py", bytes(300)) for i in range(5)]))

    def test_count(self, write_tar, reason, monkeypatch):
        monkeypatch.setattr(tars, "MAX_ENTRIES", 100)
        path = write_tar([(str(i), "") for i in range(101)], tarfile.USTAR_FORMAT)
        assert "more than 100 entries" in reason(path)

    def test_streams(self, tmp_path, reason):
        (tmp_path / "anna.tar.gz").write_bytes(gzip.compress(b"") * 100_000)
        started = time.process_time()
        assert "more than 1,000 compressed streams" in reason(tmp_path / "anna.tar.gz")
        assert time.process_time() - started < 1

    @pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE])
    def test_large_headers(self, tmp_path, reason, kind):
        header = tarfile.TarInfo("x")
        header.type, header.size = kind, 70_000
        (tmp_path / "anna.tar.gz").write_bytes(gzip.compress(header.tobuf() + os.urandom(70_000)))
        assert "a header of 70,000 bytes" in reason(tmp_path / "anna.tar.gz")

    def test_endless_extended_headers(self, tmp_path, reason):
        header = tarfile.TarInfo("x")
        header.type, header.size = tarfile.XHDTYPE, 0
        (tmp_path / "anna.tar.gz").write_bytes(gzip.compress(header.tobuf() * 50_001, 1))
        assert "more than 50,000 entries" in reason(tmp_path / "anna.tar.gz")

    def test_digits_that_cost_the_library_quadratic_time(self, tmp_path, reason):
        header = tarfile.TarInfo("x")
        header.type, header.size = tarfile.XHDTYPE, 65_536
        (tmp_path / "anna.tar.gz").write_bytes(gzip.compress(header.tobuf() + b"1" * 65_536))
        started = time.process_time()
        assert "damaged" in reason(tmp_path / "anna.tar.gz")
        assert time.process_time() - started < 0.5


class TestDamage:
    @pytest.mark.slow
    def test_cut_off(self, write_tar, reason):
        path = write_tar([("layers.py", os.urandom(3_000)), ("attention.py", LAYERS)])
        content = path.read_bytes()
        for length in range(3, len(content) - 1, 7):
            path.write_bytes(content[:length])
            assert "damaged or cut off" in reason(path)

    @pytest.mark.parametrize("length", [511, 512, 700, 1_024, 1_536])
    def test_cut_off_before_it_was_packed(self, write_tar, reason, length):
        path = write_tar([("layers.py", LAYERS), ("attention.py", LAYERS)])
        path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:length]))
        assert "damaged or cut off" in reason(path)

    def test_a_wrong_checksum(self, write_tar, reason):
        path = write_tar([("layers.py", LAYERS)])
        content = bytearray(path.read_bytes())
        content[-6] ^= 1
        path.write_bytes(content)
        assert "damaged or cut off" in reason(path)

    @pytest.mark.parametrize("record", [b"path=x\n", b"0 path=x\n", b"99 path=x\n", b"8 path=x\n", b"11 path:x\n"])
    def test_extended_headers_that_are_none(self, tmp_path, reason, record):
        header = tarfile.TarInfo("x")
        header.type, header.size = tarfile.XHDTYPE, len(record)
        raw = header.tobuf() + record.ljust(512, b"\0") + bytes(1_024)
        (tmp_path / "anna.tar.gz").write_bytes(gzip.compress(raw))
        assert "damaged or cut off" in reason(tmp_path / "anna.tar.gz")

    @pytest.mark.parametrize("key", ["size", "GNU.sparse.major"])
    def test_extended_headers_that_say_more(self, write_tar, reason, key):
        value = {"pax_headers": {key: "7"}}
        assert f"the extended header '{key}'" in reason(write_tar([("layers.py", LAYERS, value)]))

    def test_a_negative_size(self, tmp_path, reason):
        header = bytearray(tarfile.TarInfo("layers.py").tobuf(tarfile.GNU_FORMAT))
        header[124:136] = b"\xff" * 12
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        (tmp_path / "anna.tar.gz").write_bytes(gzip.compress(bytes(header) + bytes(1_024)))
        assert "damaged or cut off" in reason(tmp_path / "anna.tar.gz")


def test_nothing_is_kept_of_what_does_not_count(write_tar):
    content = write_tar([("last.pt", os.urandom(1_000)), ("a/b/c/best.pt", b"far"), ("layers.py", LAYERS)]).read_bytes()
    archive = tars.Tar(content)
    assert archive.sizes == {"last.pt": 1_000, "a/b/c/best.pt": 3, "layers.py": len(LAYERS)}
    assert [path for path, kept in archive._handles.items() if kept] == ["layers.py"]


def test_the_library_agrees(write_tar):
    members = [(f"{LONG}{index}.py", f"x = {index}\n") for index in range(20)]
    content = write_tar(members).read_bytes()
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        assert {entry.name: entry.size for entry in archive} == tars.Tar(content).sizes
