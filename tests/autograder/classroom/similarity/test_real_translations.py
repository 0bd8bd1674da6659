"""The measurement of `similar` on translations of real runs, here with made-up ones."""

import random

import pytest

from benchmarks.__main__ import main
from benchmarks.similarity import translations
from benchmarks.similarity.translations import with_other_words


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Thirteen files, each right about a random half of the lines and with mistakes of its own."""
    draw = random.Random(0)
    lines = [" ".join(f"w{draw.randrange(300)}" for _ in range(8)) for _ in range(150)]
    (tmp_path / "test.bpe").write_text("".join(f"source|||{line}\n" for line in lines))
    monkeypatch.setattr(translations, "TEST_REFERENCES", tmp_path / "test.bpe")
    ease = [draw.random() ** 4 for _ in lines]
    for number in range(13):
        own = [
            line if draw.random() < easy else " ".join(with_other_words([line], draw, 0.9))
            for line, easy in zip(lines, ease, strict=True)
        ]
        (tmp_path / f"{number}.txt").write_text("".join(f"{line}\n" for line in own))
    return tmp_path


def test_the_table_has_a_line_for_each_kind(runs, capsys):
    files = [str(runs / f"{number}.txt") for number in range(13)]
    assert main(["translations", *files, "--classes", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 16 and lines[2].split() == ["independent", "runs", "0.0%"]
    copied = next(line for line in lines if line.startswith("a copy, 0%"))
    assert copied.split()[-2:] == ["100.0%", "0.0%"]


def test_too_few_files_or_others_are_one_line(runs, capsys):
    (runs / "short.txt").write_text("one line\n")
    assert main(["translations", str(runs / "1.txt")]) == 2
    assert main(["translations", *(str(runs / f"{number}.txt") for number in range(12)), str(runs / "short.txt")]) == 2
    assert main(["translations", str(runs / "none.txt")]) == 2
    assert capsys.readouterr().err.count("\n") == 3
