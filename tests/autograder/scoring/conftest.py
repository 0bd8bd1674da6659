"""What the tests of scoring share: the real command line, files of given bytes, a corpus of ordinary text."""

import contextlib
import io
import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from grade import main

WORDS = ["the", "a", "cat", "dog", "house", "garden", "sees", "likes", "is", "was", "very", "old", "in", "on"]


@pytest.fixture
def grade(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs grade.py from another folder, and checks what holds for every run."""

    def run(*arguments: object) -> subprocess.CompletedProcess:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(tmp_path):
            try:
                status = main(list(map(str, arguments)))
            except SystemExit as end:
                status = end.code
        done = subprocess.CompletedProcess(arguments, status)
        done.out, done.err = out.buffer.getvalue().decode("utf-8"), err.buffer.getvalue().decode("utf-8")
        assert all(c.isprintable() or c == "\n" for c in done.out + done.err)
        return done

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes | str | Sequence[str]], Path]:
    """Writes a file: bytes as they are, a string in UTF-8, a list as one line each."""

    def create(name: str, content: bytes | str | Sequence[str]) -> Path:
        if not isinstance(content, bytes | str):
            content = "".join(f"{line}\n" for line in content)
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return create


@pytest.fixture
def corpus() -> Callable[..., tuple[list[str], list[str]]]:
    """Translations and references of 5 to 12 words; a word of theirs is kept, or else replaced at random."""

    def make(sentences: int, kept: float = 0.8, seed: int | None = None) -> tuple[list[str], list[str]]:
        draw = random.Random(seed)
        references, translations = [], []
        for _ in range(sentences):
            words = [draw.choice(WORDS) for _ in range(draw.randint(5, 12))]
            references.append(" ".join(words))
            translations.append(" ".join(w if draw.random() < kept else draw.choice(WORDS) for w in words))
        return translations, references

    return make
