"""What the tests of scoring share: the real command line, files of given bytes, a corpus of ordinary text."""

import contextlib
import io
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from foundation.places import ROOT
from grade import main

WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "house",
    "garden",
    "tree",
    "sees",
    "likes",
    "buys",
    "is",
    "was",
    "very",
    "small",
    "old",
    "in",
    "on",
    "with",
    "and",
    "my",
    "her",
]


@pytest.fixture
def grade_py() -> Path:
    return ROOT / "grade.py"


@pytest.fixture
def grade(grade_py: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs grade.py as a user does, from another folder, and checks what holds for every run.

    A process of its own is made where a test has options for it; else the imports of this one serve all.
    """

    def run_here(arguments: list[str]) -> subprocess.CompletedProcess:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(tmp_path):
            try:
                status = main(arguments)
            except SystemExit as end:
                status = end.code
        return subprocess.CompletedProcess(arguments, status, out.buffer.getvalue(), err.buffer.getvalue())

    def run_apart(arguments: list[str], **options) -> subprocess.CompletedProcess:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **options.pop("environment", {})}
        return subprocess.run(
            [sys.executable, "-W", "error", grade_py, *arguments],
            capture_output=True,
            cwd=tmp_path,
            env=environment,
            timeout=60,
            **options,
        )

    def run(*arguments: object, **options) -> subprocess.CompletedProcess:
        words = list(map(str, arguments))
        done = run_apart(words, **options) if options else run_here(words)
        done.out, done.err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        assert "Traceback" not in done.err
        for stream in (done.out, done.err):
            assert all(c.isprintable() or c == "\n" for c in stream)
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


def noisy_corpus(sentences: int, kept: float = 0.8, seed: int | None = None) -> tuple[list[str], list[str]]:
    """Translations and references of 5 to 12 words; a word of theirs is kept, or else replaced at random."""
    draw = random.Random(seed)
    references, translations = [], []
    for _ in range(sentences):
        words = [draw.choice(WORDS) for _ in range(draw.randint(5, 12))]
        references.append(" ".join(words))
        translations.append(" ".join(w if draw.random() < kept else draw.choice(WORDS) for w in words))
    return translations, references


@pytest.fixture
def corpus() -> Callable[..., tuple[list[str], list[str]]]:
    return noisy_corpus
