"""Reads the table of corpora."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("corpora.toml")


@dataclass(frozen=True)
class RemoteFile:
    """A file to download.

    Attributes:
        name: on disk.
        url: empty if the user has to give it.
        checksum: `sha256:…` or `md5:…`; empty if none is known.
    """

    name: str
    url: str
    checksum: str


@dataclass(frozen=True)
class PublicCorpus:
    """An entry of the table; `corpora.toml` says what each field means."""

    name: str
    title: str
    home: str
    licence: str
    citation: str
    format: str
    dataset: str
    prepare: str
    files: tuple[RemoteFile, ...]
    texts: dict[str, list[str]]


def read_table(path: Path = TABLE) -> dict[str, PublicCorpus]:
    """Returns the corpora by name."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))
    corpora = {}
    for name, entry in entries.items():
        files = tuple(RemoteFile(**file) for file in entry.pop("files"))
        corpora[name] = PublicCorpus(name=name, files=files, texts=entry.pop("texts", {}), **entry)
    return corpora
