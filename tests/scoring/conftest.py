"""What the tests of scoring share: the real command line, files of given bytes, a corpus of ordinary text."""

import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

WORDS = "the a cat dog house garden tree sees likes buys is was very small old in on with and my her".split()


@pytest.fixture
def grade_py() -> Path:
    return Path(__file__).resolve().parents[2] / "grade.py"


@pytest.fixture
def grade(grade_py: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Runs grade.py as a user does, from another folder, and checks what holds for every run."""

    def run(*arguments: object, **options) -> subprocess.CompletedProcess:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **options.pop("environment", {})}
        done = subprocess.run(
            [sys.executable, "-W", "error", grade_py, *map(str, arguments)],
            capture_output=True,
            cwd=tmp_path,
            env=environment,
            timeout=60,
            **options,
        )
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
