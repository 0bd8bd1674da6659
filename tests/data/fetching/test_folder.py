"""What lies in the folder is what the table or the first download promised, and nobody's own files are lost."""

from __future__ import annotations

import dataclasses
import hashlib

import pytest

from data.fetching import commands
from data.fetching.folder import LOCK

from .conftest import fetch, names


@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_other_bytes_than_the_checksum_says(server, small, tmp_path, monkeypatch, capsys, kind):
    expected = f"{kind}:{hashlib.new(kind, server.files['text']).hexdigest()}"
    known = dataclasses.replace(small, files=(dataclasses.replace(small.files[0], checksum=expected),))
    monkeypatch.setattr(commands, "read_table", lambda: {small.name: known})
    whole = server.files["text"]
    server.files["text"] = whole[:-1] + b"!"
    assert fetch(tmp_path) == 1
    error = capsys.readouterr().err
    assert f"not {expected} as in the table of corpora\n" in error and error.count("\n") == 1
    assert names(tmp_path) == set()
    server.files["text"] = whole
    assert fetch(tmp_path) == 0 and names(tmp_path) == {"text", LOCK}


def test_the_first_fetch_holds_later_ones(server, small, tmp_path, capsys):
    assert fetch(tmp_path) == 0
    (tmp_path / "text").unlink()
    server.files["other"] = server.files["text"] + b"more"
    assert fetch(tmp_path, "--url", server.url + "other") == 1
    assert f"as in {tmp_path / LOCK}; if the corpus was renewed, choose another --output" in capsys.readouterr().err
    assert names(tmp_path) == {LOCK}
    assert fetch(tmp_path) == 0


@pytest.mark.parametrize("fetched", [True, False])
def test_nothing_of_the_users_is_lost(server, small, tmp_path, capsys, fetched):
    if fetched:
        assert fetch(tmp_path) == 0
    (tmp_path / "text").write_text("mine")
    asked = len(server.requests)
    assert fetch(tmp_path) == 2
    why = "not as 'fetch' wrote it" if fetched else "not written by an earlier 'fetch'"
    assert capsys.readouterr().err == (f"error: {tmp_path / 'text'}: {why}; move it away, or choose another --output\n")
    assert (tmp_path / "text").read_text() == "mine" and len(server.requests) == asked


@pytest.mark.parametrize("content", ["mine", "[]", '{"files": {"text": 1}}', '{"corpus": "x", "files": {}}'])
def test_a_lock_of_another_kind(small, tmp_path, capsys, content):
    (tmp_path / LOCK).write_text(content)
    assert fetch(tmp_path) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {tmp_path / LOCK}: ") and error.count("\n") == 1
    assert (tmp_path / LOCK).read_text() == content
