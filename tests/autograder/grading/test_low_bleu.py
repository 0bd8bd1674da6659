"""A low BLEU gets its reason where that shows, and a bad model none."""

import random

import pytest

from autograder.grading.low_bleu import why_low
from autograder.grading.scoring import read_references, read_sources, undo_bpe
from foundation.places import ROOT

PATH = ROOT / "data/corpus/fren.dev.bpe"
REFERENCES, SOURCES = read_references(PATH)[:400], read_sources(PATH)[:400]
PERFECT = [undo_bpe(line) for line in REFERENCES]
DROPPING = random.Random(0)
GOOD = [" ".join(word for word in line.split() if DROPPING.random() > 0.12) for line in PERFECT]
SHUFFLED = random.Random(1).sample(GOOD, len(GOOD))

FILES = {
    "perfect": (PERFECT, ""),
    "good": (GOOD, ""),
    "words of a bad model": ([" ".join(sorted(line.split())[:2]) for line in PERFECT], ""),
    "a model with one sentence": ([" ".join(PERFECT[3].split()[:-1])] * len(PERFECT), ""),
    "capitals": ([line.title() for line in PERFECT], "have capital letters, unlike the references: without that"),
    "signs": ([line.replace(" .", ".").replace(" ?", "?") for line in PERFECT], "have signs attached to words, unlike"),
    "sentencepiece": (["▁" + line.replace(" ", " ▁") for line in PERFECT], "400 of 400 lines have ▁: join"),
    "byte pairs": ([line.replace("@@ ", "@@") for line in REFERENCES], "lines have @@ inside or before words"),
    "special tokens": ([f"<s> {line} </s> <pad>" for line in GOOD], "400 of 400 lines have <s>, <pad> or"),
    "a line too few": ([*GOOD[:200], *GOOD[201:], ""], "1 line is missing before line 2"),
    "a line too many": ([*GOOD[:200], "x", *GOOD[200:-1]], "1 line is too many before line 2"),
    "another order": (SHUFFLED, "the lines are in another order: line 1 fits reference"),
    "sources": (SOURCES, "most lines are the source sentences"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_low_score_gets_its_reason(case):
    lines, words = FILES[case]
    reasons = why_low(lines, REFERENCES, SOURCES)
    assert len(reasons) == bool(words) and all(words in reason for reason in reasons)
