"""A download goes on where it broke off, is tried again while that helps, and never joins two versions."""

from __future__ import annotations

import re

import pytest

from data.fetching import download
from data.fetching.folder import LOCK

from .conftest import fetch, names


def test_a_download_that_breaks_off_is_resumed(server, small, tmp_path, pauses):
    server.faults = ["break", "break"]
    assert fetch(tmp_path) == 0
    assert (tmp_path / "text").read_bytes() == server.files["text"]
    assert [request.get("Range") for request in server.requests][0] is None
    half = len(server.files["text"]) // 2
    assert server.requests[1]["Range"] == f"bytes={half}-" and server.requests[1]["If-Range"] == '"1"'
    assert pauses == [1, 1]  # each attempt got further, so the count began anew
    assert names(tmp_path) == {"text", LOCK}


@pytest.mark.parametrize("tag", ['"2"', None])
def test_two_versions_are_never_joined(server, small, tmp_path, tag):
    """The file changes on the server between two calls: one of the same length has another tag, one has no tag."""
    server.tag = tag and '"1"'
    server.faults = ["break"]
    assert fetch(tmp_path, "--retries", 0) == 2
    server.files["text"] = server.files["text"][::-1] + (b"" if tag else b"new\n")
    server.tag = tag
    assert fetch(tmp_path) == 0
    assert (tmp_path / "text").read_bytes() == server.files["text"]


def test_a_range_that_was_not_asked_for(server, small, tmp_path):
    server.faults = ["break", "elsewhere"]
    assert fetch(tmp_path) == 0
    assert (tmp_path / "text").read_bytes() == server.files["text"]


@pytest.mark.parametrize("status", ["404", "403", "410"])
def test_a_refusal_is_final(server, small, tmp_path, pauses, capsys, status):
    server.faults = [status]
    assert fetch(tmp_path) == 2
    assert pauses == [] and names(tmp_path) == set()
    assert re.fullmatch(rf"error: {server.url}text: HTTP {status} \w.*\n", capsys.readouterr().err)


def test_ctrl_c_leaves_what_has_arrived(server, small, tmp_path, monkeypatch, capsys):
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(download, "pause", interrupt)
        server.faults = ["break"]
        assert fetch(tmp_path) == 130
    assert capsys.readouterr().err.endswith("stopped; the same command resumes\n")
    assert fetch(tmp_path) == 0 and "Range" in server.requests[1]
