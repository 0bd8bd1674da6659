r"""Scores a file of translations: BLEU, its interval, and a verdict for each threshold.

    references = read_references("test.bpe")
    translations = read_translations("translations.txt", expected=len(references))
    result = score(translations, references)              # a Score: value, low, high, signature, ...
    verdicts = judge(result, {"beginner": 0.3})           # a Verdict for each threshold
    print(as_text(result, verdicts))

BLEU (Papineni et al. 2002, section 2.3) of a corpus is sacreBLEU's; the course's text is already tokenized, so without
its tokenizer:

    BLEU = BP * exp(1/4 * sum_{n=1..4} log p_n)        BP = min(1, exp(1 - r / c))

where p_n is the share of the translations' n-grams that also occur in their references (each counted at most as
often as there), c the number of words in the translations and r that in the references. It follows from ten numbers per
sentence: c, r, and for each n the matching and the total n-grams. Their sums over sentences drawn with replacement give
the bootstrap interval (Koehn 2004, section 3). sacreBLEU draws the same samples, but keeps only the interval's width.

A threshold is reached where BLEU itself is at least as large; points depend on that alone. Where the 95% interval
contains the threshold, there are too few test sentences to tell on which side of it the model is, and the verdict is
`borderline`, whether or not the value reaches it.

Of a file only `\n` or `\r\n` ends a line: `str.splitlines` would also split at U+2028 and others, and shift every later
sentence against its reference.
"""

import logging
import math
import os
import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU, BLEUScore

from foundation.command_line import UserError
from foundation.texts import as_threshold, counted, line_of, printable

MAX_BYTES = 10_000_000
MAX_LINES = 100_000
MAX_LINE_CHARACTERS = 5_000
MAX_COMPOSED_CHARACTERS = 1_000
"""Longer lines stay as they are: composing takes quadratic time where someone heaps accents on one letter."""
SEPARATOR = "|||"
BPE_MARK = "@@"

SAMPLES = 1_000
SEED = 12_345  # sacreBLEU's own default, so that both draw the same samples
LEVEL = 0.95
DECIMALS = 10
"""Sums of logarithms are accurate to about 15; a score of exactly 0.45 must not become 0.44999999999999996."""
MAX_ORDER = 4
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
UNRELATED = 0.02
"""A BLEU below this suggests the wrong file: another split, another order, the source language."""
WIDTH = 95

Array = NDArray[Any]
Note = Callable[[str], None]
"""Called with a line of text for everything that is not an error but worth knowing."""

logging.getLogger("sacrebleu").setLevel(logging.CRITICAL)  # its remarks on the way would be more lines on stderr


class ScoringError(UserError):
    """Input that cannot be scored; the message is one line: what is wrong, where, and what would be right."""


def read_translations(
    source: str | os.PathLike[str] | bytes, *, expected: int, name: str | None = None, note: Note = lambda line: None
) -> list[str]:
    """Reads one translation per line, with byte-pair marks; an empty line is an empty translation.

    Args:
        source: a text file in UTF-8, or its content. Where every line has the form `src|||tgt`, `tgt` is taken.
        expected: the number of references. Any other number of lines is an error; blank lines at the end are no
            sentences, unless they are needed to have one for each reference.
        name: of the file in messages; by default its path.
        note: see `Note`.

    Raises: ScoringError where the file cannot be read as that.
    """
    written, name = _lines(source, name)
    lines = _without_blank_end(written, expected)
    if len(lines) < len(written):
        note(f"{name}: blank lines at the end are not counted ({len(written) - len(lines)})")
    if len(lines) != expected:
        numbers = f"{counted(len(lines), 'line')}, but there are {counted(expected, 'reference')}"
        raise ScoringError(f"{name}: {numbers}; write one translation per line, in the references' order")
    translations = _target_sides(lines, name)
    if translations is not lines:
        note(f"{name}: every line has the form src|||tgt, so only what follows ||| is scored")
    empty = [number for number, line in enumerate(translations, start=1) if not line.strip()]
    if empty:
        note(f"{name}: {len(empty)} of {len(lines)} translations have no text (first: line {empty[0]})")
    return translations


def read_references(path: str | os.PathLike[str], *, name: str | None = None) -> list[str]:
    """Reads one reference per line, either plain or as `src|||tgt`, with byte-pair marks. Raises: ScoringError."""
    lines, name = _lines(path, name)
    references = _target_sides(_without_blank_end(lines, 1), name)
    for number, line in enumerate(references, start=1):
        if not line.strip():
            raise ScoringError(f"{name}: line {number} has no reference; every line needs one")
    return references


def read_sources(path: str | os.PathLike[str]) -> list[str]:
    """The source sentences beside the references; none where the file has references alone."""
    lines = _without_blank_end(_lines(path, None)[0], 1)
    return [line.split(SEPARATOR)[0] for line in lines] if all(SEPARATOR in line for line in lines) else []


def undo_bpe(line: str) -> str:
    """The sentence that is compared: `trus@@ t@@ wor@@ thy` becomes `trustworthy`, in single spaces and Unicode's NFC.

    A mark at the end, where a translation was cut off inside a word, is removed. In NFD, `é` is `e` and an accent.
    """
    joined = " ".join(line.split()).replace(BPE_MARK + " ", "").removesuffix(BPE_MARK)
    return joined if len(joined) > MAX_COMPOSED_CHARACTERS else unicodedata.normalize("NFC", joined)


def _lines(source: str | os.PathLike[str] | bytes, name: str | None) -> tuple[list[str], str]:
    """The lines of a file in UTF-8, the last of which may lack its end; and the file's name for messages."""
    name = printable(name or ("" if isinstance(source, bytes) else os.fspath(source)))
    if isinstance(source, bytes):
        data = source
    else:
        try:
            with Path(source).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            reason = str(error.strerror or type(error).__name__).lower()
            raise ScoringError(f"{name}: {reason}; name a text file that can be read") from None
    if len(data) > MAX_BYTES:
        raise ScoringError(f"{name}: is too large; at most {MAX_BYTES / 1e6:g} MB are read")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"byte 0x{data[error.start]:02x} at offset {error.start} (line {line_of(error)})"
        raise ScoringError(f"{name}: not UTF-8: {place}; save the file as UTF-8") from None
    if not text:
        raise ScoringError(f"{name}: is empty")
    if "\r" in text and "\n" not in text:
        raise ScoringError(f"{name}: its lines end in CR alone; save it with LF or CRLF")
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    if len(lines) > MAX_LINES:
        raise ScoringError(f"{name}: {len(lines):,} lines are too many; at most {MAX_LINES:,} are read")
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE_CHARACTERS:
            limit = f"at most {MAX_LINE_CHARACTERS:,} are read as one sentence"
            raise ScoringError(f"{name}: line {number} is {len(line):,} characters long; {limit}")
    return lines, name


def _without_blank_end(lines: list[str], least: int) -> list[str]:
    """The lines without blank ones at the end, but at least so many."""
    end = len(lines)
    while end > least and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def _target_sides(lines: list[str], name: str) -> list[str]:
    """The part after `|||` of every line; the same list where no line has `|||`."""
    counts = [line.count(SEPARATOR) for line in lines]
    if not any(counts):
        return lines
    for number, count in enumerate(counts, start=1):
        if count != 1:
            problem = f"line {number} has ||| {counted(count, 'time')}"
            raise ScoringError(f"{name}: {problem}; write src|||tgt in every line or in none")
    return [line.split(SEPARATOR)[1].strip() for line in lines]


@dataclass(frozen=True)
class Score:
    """The quality of translations: corpus BLEU with its 95% interval, between 0 and 1."""

    value: float
    low: float
    high: float
    sentences: int
    signature: str = ""  # sacreBLEU's record of every choice behind it


def score(hypotheses: Sequence[str], references: Sequence[str], *, samples: int = SAMPLES) -> Score:
    """Scores translations against references, one each, in order; byte-pair marks of both are undone.

    Raises: ScoringError where the numbers of sentences differ or are zero. `samples` are those of the bootstrap.
    """
    if len(hypotheses) != len(references) or not references:
        given = f"{counted(len(hypotheses), 'translation')} for {counted(len(references), 'reference')}"
        raise ScoringError(f"{given}; there must be one for each, in order")
    bleu = BLEU(tokenize="none", force=True)
    pairs = zip(map(undo_bpe, hypotheses), map(undo_bpe, references), strict=True)
    sentences = [bleu.corpus_score([hypothesis], [[reference]]) for hypothesis, reference in pairs]
    statistics = np.array([[s.sys_len, s.ref_len, *s.counts, *s.totals] for s in sentences], dtype=np.int64)
    low, high = _interval(statistics, samples)
    bleu.n_bootstrap, bleu.seed = samples, SEED  # as sacreBLEU's own bootstrap sets them for the signature
    corpus = _bleu_of_sums(statistics.sum(axis=0))
    value, low, high = (round(percent / 100, DECIMALS) for percent in (corpus.score, low, high))
    return Score(value, low, high, len(references), str(bleu.get_signature()))


def _bleu_of_sums(sums: Array) -> BLEUScore:
    """BLEU in percent, as sacreBLEU computes it, of the ten sums over a corpus."""
    c, r, *counts = sums.tolist()
    return BLEU.compute_bleu(counts[:MAX_ORDER], counts[MAX_ORDER:], c, r, smooth_method="exp")


def _interval(statistics: Array, samples: int) -> tuple[float, float]:
    """The middle 95% of BLEU of samples that draw, with replacement, as many sentences as there are.

    By sacreBLEU's rule, a 40th of the samples is cut off at each end.
    """
    generator, n = np.random.default_rng(SEED), len(statistics)
    drawn = (statistics[generator.integers(n, size=n)].sum(axis=0) for _ in range(samples))
    ordered = sorted(_bleu_of_sums(sums).score for sums in drawn)
    cut = samples // round(2 / (1 - LEVEL))
    return ordered[cut], ordered[samples - cut - 1]


@dataclass(frozen=True)
class Verdict:
    """The verdict for one threshold."""

    name: str
    threshold: float  # the lowest BLEU that reaches it
    status: str  # "passed" or "failed" where the whole interval agrees, or else "borderline"
    is_reached: bool  # whether BLEU itself is at least the threshold; points depend on this


def judge(score: Score, thresholds: Mapping[str, float]) -> list[Verdict]:
    """Compares a score with every threshold, in their order."""
    # With very few sentences the value may be outside its own interval; that is doubt as well.
    low, high = min(score.low, score.value), max(score.high, score.value)
    verdicts = []
    for name, threshold in thresholds.items():
        status = "passed" if low >= threshold else "failed" if high < threshold else "borderline"
        verdicts.append(Verdict(name, threshold, status, is_reached=score.value >= threshold))
    return verdicts


def parse_thresholds(arguments: Iterable[str]) -> dict[str, float]:
    """Thresholds written as `NAME=VALUE`, in the order given. Raises: ScoringError."""
    thresholds: dict[str, float] = {}
    for argument in arguments:
        name, _, value = (part.strip() for part in argument.partition("="))
        try:
            thresholds[name] = float(value)
        except ValueError:
            thresholds[name] = math.nan
        if not NAME.fullmatch(name) or not 0 <= thresholds[name] <= 1:  # NaN is in no range
            where = f"--threshold {printable(argument, 60)}"
            raise ScoringError(f"{where}: write NAME=VALUE with a BLEU from 0 to 1, such as advanced=0.45")
    return thresholds


def as_text(score: Score, verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> str:
    """The score and its verdicts as lines for a terminal; plain ASCII, unless a note is not."""
    value, low, high = figures(score, verdicts)
    lines = [
        f"BLEU       {value}   95% interval {low} to {high}",
        f"sentences  {score.sentences:,}",
        f"signature  {score.signature}",
    ]
    width = max(map(len, ["threshold", *(v.name for v in verdicts)]))
    lines += ["", f"{'threshold':<{width}}  at least  verdict"] if verdicts else []
    for v in verdicts:
        counts = f" (counts as {'passed' if v.is_reached else 'failed'})" if v.status == "borderline" else ""
        lines.append(f"{v.name:<{width}}  {as_threshold(v.threshold):>8}  {v.status}{counts}")
    doubtful = [f"{v.name}: {explain(v, score, verdicts)}." for v in verdicts if v.status == "borderline"]
    lines += [""] * bool(doubtful) + [textwrap.fill(sentence, WIDTH) for sentence in doubtful]
    if score.value < UNRELATED:
        notes = [*notes, "hardly anything matches: do both files have the same split, order and language?"]
    lines += [""] * bool(notes) + [f"note: {printable(note, 500)}" for note in notes]
    return "\n".join(lines) + "\n"


def explain(verdict: Verdict, score: Score, verdicts: Sequence[Verdict] = ()) -> str:
    """A verdict as a sentence without its full stop, with as many digits as those shown beside it need."""
    value, low, high = figures(score, [verdict, *verdicts])
    threshold, span = as_threshold(verdict.threshold), f"the 95% interval {low} to {high}"
    if verdict.status == "passed":
        return f"BLEU {value} reaches {threshold}, and so does all of {span}"
    if verdict.status == "failed":
        return f"BLEU {value} is below {threshold}, and so is all of {span}"
    side = "reaches it and counts as passed" if verdict.is_reached else "is below it and counts as failed"
    doubt = f"{counted(score.sentences, 'sentence')} cannot settle it"
    return f"{threshold} lies within {span}: BLEU {value} {side}, but {doubt}"


def figures(score: Score, verdicts: Sequence[Verdict]) -> tuple[str, str, str]:
    """BLEU and the ends of its interval, all with the same number of decimals: two, or more where these would mislead.

    None is rounded across a threshold: 0.446 is never shown as 0.45 beside a threshold of 0.45 that it misses.
    """
    values = (score.value, score.low, score.high)
    for decimals in range(2, DECIMALS + 1):
        shown = [f"{value:.{decimals}f}" for value in values]
        pairs = list(zip(shown, values, strict=True))
        if all((float(s) >= v.threshold) == (value >= v.threshold) for s, value in pairs for v in verdicts):
            break
    return shown[0], shown[1], shown[2]
