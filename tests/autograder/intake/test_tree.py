"""A submission that is a .zip, honest or not. Nothing is written to disk."""

import stat
import zipfile

import pytest

from autograder.intake import tree
from autograder.intake.tree import MAX_ARCHIVE_BYTES

from .conftest import LAYERS

FILES = [("anna/layers.py", LAYERS), ("anna/r\u00e9sum\u00e9.txt", "x" * 2_000), ("anna/translations.txt", "a\n")]
LISTED = b"PK\x01\x02"


def test_a_zip_as_it_comes(write_zip, take):
    for members, method in (([("anna/", ""), *FILES], zipfile.ZIP_DEFLATED), (FILES, zipfile.ZIP_STORED)):
        intake = take(write_zip(members, method))
        assert intake.sources["layers"] == ("layers.py", LAYERS) and intake.translations == b"a\n"
        assert sorted(intake.hashes) == ["anna.zip", "layers.py", "translations.txt"] and intake.notes == []


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/passwd", "..\\outside.txt"])
def test_what_leads_elsewhere_is_skipped_and_never_unpacked(write_zip, take, tmp_path, name):
    intake = take(write_zip([(name, "1/0"), *FILES]))
    assert intake.submitted == {"layers"} and [note for note in intake.notes if note.startswith("skipped: ")]
    assert [path.name for path in tmp_path.iterdir()] == ["anna.zip"]


BAD = {  # members, and why the submission is refused
    "up": ([("../layers.py", LAYERS)], "leads out of the archive"),
    "up, behind a backslash": ([("..\\layers.py", LAYERS)], "leads out of the archive"),
    "absolute in Windows": ([("C:\\student\\layers.py", LAYERS)], "leads out of the archive"),
    "a pipe": (
        [("layers.py", "", {"external_attr": (stat.S_IFIFO | 0o777) << 16})],
        "'layers.py': it is no ordinary file; hand in ordinary",
    ),
    "there twice": ([("./layers.py", LAYERS), ("layers.py", LAYERS)], "'layers.py': it is there twice; keep one"),
}


@pytest.mark.parametrize("members, words", BAD.values(), ids=BAD)
def test_what_is_used_must_be_harmless(write_zip, reason, members, words):
    assert words in reason(write_zip(members))


def test_a_size_that_a_zip_claims(write_zip, reason):
    path = write_zip([("masks.py", ""), ("layers.py", b"")])
    content = bytearray(path.read_bytes())
    at = content.rindex(LISTED) + 20
    content[at : at + 8] = (10**9).to_bytes(4, "little") * 2
    path.write_bytes(content)
    assert "'layers.py': it has 1,000,000,000 bytes" in reason(path)


def test_too_large_or_too_many_to_be_listed(write_zip, reason, monkeypatch):
    monkeypatch.setattr(tree, "MAX_ENTRIES", 10)
    path = write_zip([("layers.py", LAYERS)])
    path.write_bytes(path.read_bytes() + LISTED * 41)
    assert "more than 10 entries" in reason(path)
    with path.open("wb") as file:
        file.truncate(MAX_ARCHIVE_BYTES + 1)
    assert f"it has {MAX_ARCHIVE_BYTES + 1:,} bytes; at most {MAX_ARCHIVE_BYTES:,}" in reason(path)


def test_a_zip_that_is_cut_off_or_damaged(write_zip, reason):
    path = write_zip([("layers.py", LAYERS), ("attention.py", LAYERS * 100)], zipfile.ZIP_STORED)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"class LayerNorm", b"class layerNorm"))
    assert "it is damaged, encrypted or" in reason(path), "by its checksum"
    for length in range(5, len(content) - 1, 97):
        path.write_bytes(content[:length])
        assert "damaged or cut off" in reason(path)


def test_encryption_and_odd_methods(write_zip, reason):
    path = write_zip([("layers.py", LAYERS)])
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (LISTED, 8)):
        content[content.index(signature) + offset] = 1
    path.write_bytes(content)
    assert "'layers.py': it is damaged, encrypted or" in reason(path)
    assert "not compressed by deflate; pack it again" in reason(write_zip([("layers.py", LAYERS)], zipfile.ZIP_BZIP2))
