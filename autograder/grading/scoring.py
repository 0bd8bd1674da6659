r"""Scores a file of translations: BLEU, its interval, and a verdict for each threshold.

BLEU (Papineni et al. 2002, section 2.3) of a corpus is sacreBLEU's; the course's text is already tokenized, so without
its tokenizer. The interval is that of its bootstrap (Koehn 2004, section 3): half its width around the samples' mean.

A threshold is reached where BLEU itself is at least as large; points depend on that alone. Where the 95% interval
contains the threshold, there are too few test sentences to tell on which side of it the model is, and the verdict is
`borderline`, whether or not the value reaches it.

Of a file only `\n` or `\r\n` ends a line: `str.splitlines` would also split at U+2028 and others, and shift every later
sentence against its reference.
"""

import json
import logging
import math
import operator
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sacrebleu.metrics.bleu import BLEU

from foundation.command_line import UserError
from foundation.texts import as_threshold, counted, line_of, printable

MAX_BYTES = 10_000_000
MAX_LINE_CHARACTERS = 5_000
MAX_COMPOSED_CHARACTERS = 1_000
"""Longer lines stay as they are: composing takes quadratic time where someone heaps accents on one letter."""
MOST_CHARACTERS, MOST_TIMES = 1_000_000, 10
"""Of all translations, whichever is more: so many, or so many times the references' own. BLEU then takes seconds.

The course's model writes at most 50 tokens a line, a third of the first; no translation is ten times as long.
"""
SEPARATOR = "|||"
BPE_MARK = "@@"

SAMPLES = 1_000
DECIMALS = 10
"""Sums of logarithms are accurate to about 15; a score of exactly 0.45 must not become 0.44999999999999996."""
LOW = "low BLEU: "
"""Begins a note about why it is, if not because of the model."""
UNRELATED = 0.02
"""A BLEU below this suggests the wrong file: another split, another order, the source language."""
THRESHOLD = re.compile(r"([A-Za-z][A-Za-z0-9_-]{0,31})=(0?\.\d+|[01]\.?0*)")
SPECIAL = re.compile(r"<(/?s|sos|bos|eos|pad|unk)>|\[(bos|eos|pad)\]", re.IGNORECASE)
MARKS = {
    "<s>, <pad> or other special tokens: leave them out": SPECIAL,
    "▁: join the pieces of words, and put spaces for it": re.compile("▁"),
    "@@ inside or before words: byte-pair marks stand at the end of a piece": re.compile(r"@@\S|(?<!\S)@@"),
}
SIGN = re.compile(r"""(?<=\w)([.,!?;:'’"])|([.,!?;:'’"])(?=\w)""")
"""A sign that is attached to a word."""
FEW = 0.05  # the share of lines below which a habit explains little, and the gain in BLEU likewise
SAMPLED, LEAST_WORDS, LEAST_MOVED = 100, 3, 4
ALIKE, UNLIKE = 0.6, 0.3
"""The share of words that a line has in common with a reference that it fits, and with one that it does not."""

Note = Callable[[str], None]
"""Called with a line of text for everything that is not an error but worth knowing."""

logging.getLogger("sacrebleu").setLevel(logging.CRITICAL)  # its remarks on the way would be more lines on stderr


class ScoringError(UserError):
    """Input that cannot be scored; the message is one line: what is wrong, where, and what would be right."""


def read_translations(
    source: str | os.PathLike[str] | bytes, *, expected: int, name: str | None = None, note: Note = lambda line: None
) -> list[str]:
    """Reads one translation per line, with byte-pair marks; an empty line is an empty translation.

    The source is a text file in UTF-8, or its content; where every line has the form `src|||tgt`, `tgt` is taken. Any
    other number of lines than expected is an error; blank lines at the end are no sentences, unless they are needed to
    have one for each reference. Raises: ScoringError.
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
    if len(re.findall(r"\r(?!\n)", text)) > text.count("\n"):
        raise ScoringError(f"{name}: its lines end in CR alone; save it with LF or CRLF")
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE_CHARACTERS:
            limit = f"at most {MAX_LINE_CHARACTERS:,} are read as one sentence"
            raise ScoringError(f"{name}: line {number} is {len(line):,} characters long; {limit}")
    return lines, name


def _without_blank_end(lines: list[str], least: int) -> list[str]:
    end = len(lines)
    while end > least and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def _target_sides(lines: list[str], name: str) -> list[str]:
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


def score(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """Scores translations against references, in order; byte-pair marks of both are undone. Raises: ScoringError."""
    if len(hypotheses) != len(references) or not references:
        given = f"{counted(len(hypotheses), 'translation')} for {counted(len(references), 'reference')}"
        raise ScoringError(f"{given}; there must be one for each, in order")
    written, most = sum(map(len, hypotheses)), max(MOST_CHARACTERS, MOST_TIMES * sum(map(len, references)))
    if written > most:
        raise ScoringError(f"the translations have {written:,} characters; at most {most:,} are scored")
    bleu = BLEU(tokenize="none", force=True)
    ours, theirs = ([undo_bpe(line) for line in lines] for lines in (hypotheses, references))
    corpus = bleu.corpus_score(ours, [theirs], n_bootstrap=SAMPLES)
    signature = str(bleu.get_signature())
    report = json.loads(corpus.format(width=DECIMALS, signature=signature, is_json=True))
    mean, spread = report.get("confidence_mean", 0.0), report.get("confidence_var", 0.0)  # of a BLEU of 0 none
    low, high = max(0.0, mean - spread), min(100.0, mean + spread)
    value, low, high = (round(percent / 100, DECIMALS) for percent in (corpus.score, low, high))
    return Score(value, low, high, len(references), signature)


@dataclass(frozen=True)
class Verdict:
    """The verdict for one threshold."""

    name: str
    threshold: float  # the lowest BLEU that reaches it
    status: str  # "passed" or "failed" where the whole interval agrees, or else "borderline"
    is_reached: bool  # whether BLEU itself is at least the threshold; points depend on this


def parse_thresholds(arguments: Iterable[str]) -> dict[str, float]:
    """Thresholds written as `NAME=VALUE`, in the order given. Raises: ScoringError."""
    thresholds: dict[str, float] = {}
    for argument in arguments:
        match = THRESHOLD.fullmatch(argument)
        if match is None:
            where = f"--threshold {printable(argument, 60)}"
            raise ScoringError(f"{where}: write NAME=VALUE with a BLEU from 0 to 1, such as advanced=0.45")
        thresholds[match[1]] = float(match[2])
    return thresholds


def judge(score: Score, thresholds: Mapping[str, float]) -> list[Verdict]:
    """Compares a score with every threshold, in their order."""
    # With very few sentences the value may be outside its own interval; that is doubt as well.
    low, high = min(score.low, score.value), max(score.high, score.value)
    verdicts = []
    for name, threshold in thresholds.items():
        status = "passed" if low >= threshold else "failed" if high < threshold else "borderline"
        verdicts.append(Verdict(name, threshold, status, is_reached=score.value >= threshold))
    return verdicts


def as_text(score: Score, verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> str:
    """The score and its verdicts as lines for a terminal; plain ASCII, unless a note is not."""
    lines = [
        f"BLEU       {shown(score.value)}   95% interval {shown(score.low)} to {shown(score.high)}",
        f"sentences  {score.sentences:,}",
        f"signature  {score.signature}",
    ]
    width = max(map(len, ["threshold", *(v.name for v in verdicts)]))
    lines += ["", f"{'threshold':<{width}}  at least  verdict"] if verdicts else []
    for v in verdicts:
        counts = f" (counts as {'passed' if v.is_reached else 'failed'})" if v.status == "borderline" else ""
        lines.append(f"{v.name:<{width}}  {as_threshold(v.threshold):>8}  {v.status}{counts}")
    doubtful = [f"{v.name}: {explain(v, score)}." for v in verdicts if v.status == "borderline"]
    lines += [""] * bool(doubtful) + doubtful
    lines += [""] * bool(notes) + [f"note: {printable(note, 500)}" for note in notes]
    return "\n".join(lines) + "\n"


def explain(verdict: Verdict, score: Score) -> str:
    """A verdict as a sentence without its full stop."""
    threshold, span = as_threshold(verdict.threshold), f"the 95% interval {shown(score.low)} to {shown(score.high)}"
    if verdict.status == "passed":
        return f"BLEU {shown(score.value)} reaches {threshold}, and so does all of {span}"
    if verdict.status == "failed":
        return f"BLEU {shown(score.value)} is below {threshold}, and so is all of {span}"
    side = "reaches it and counts as passed" if verdict.is_reached else "is below it and counts as failed"
    doubt = f"{counted(score.sentences, 'sentence')} cannot settle it"
    return f"{threshold} lies within {span}: BLEU {shown(score.value)} {side}, but {doubt}"


def shown(bleu: float) -> str:
    """A BLEU with three decimals, rounded down: 0.4499 never reads as the 0.45 that it misses."""
    return f"{math.floor(round(bleu * 1000, 6)) / 1000:.3f}"


def why_low(translations: Sequence[str], references: Sequence[str], sources: Sequence[str] = ()) -> list[str]:
    """The reasons, as sentences; there are as many references, and as many sources or none."""
    of = f"of {len(translations)} lines"
    numbers = {habit: sum(bool(mark.search(line)) for line in translations) for habit, mark in MARKS.items()}
    marked = [f"{number} {of} have {habit}" for habit, number in numbers.items() if number > FEW * len(translations)]
    lines, targets, origins = ([undo_bpe(line) for line in texts] for texts in (translations, references, sources))
    bleu = _bleu(lines, targets)
    reasons = [*marked, *_habits(lines, targets, bleu), *_places(lines, targets, origins)]
    if not reasons and bleu < UNRELATED:
        return ["hardly anything matches: do both files have the same split, order and language?"]
    return reasons


def _habits(lines: Sequence[str], targets: Sequence[str], bleu: float) -> Iterator[str]:
    """What all lines have and references lack, where this BLEU is higher without."""
    changes: dict[str, Callable[[str], str]] = {
        "capital letters": str.lower,
        "signs attached to words": lambda line: " ".join(SIGN.sub(r" \1\2 ", line).split()),
    }
    for habit, change in changes.items():
        changed, others = [*map(change, lines)], [*map(change, targets)]
        number = sum(map(operator.ne, changed, lines))
        if number > FEW * len(lines) and (gain := _bleu(changed, others)) > bleu + FEW:
            gained = f"without that, BLEU is {gain:.2f} instead of {bleu:.2f}"
            yield f"{number} of {len(lines)} lines have {habit}, unlike the references: {gained}"
            lines, targets, bleu = changed, others, gain  # so that the last one has what is left


def _bleu(lines: Sequence[str], targets: Sequence[str]) -> float:
    return float(BLEU(tokenize="none", force=True).corpus_score(lines, [targets]).score) / 100


def _places(lines: Sequence[str], targets: Sequence[str], sources: Sequence[str]) -> Iterator[str]:
    """What lines fit instead of their own references: the sources, or references of other places."""
    if sum(map(operator.eq, lines, sources)) > len(lines) / 2:
        yield "most lines are the source sentences"
        return
    words = [frozenset(line.split()) for line in targets]
    moved: list[tuple[int, int]] = []
    step = max(1, len(lines) // SAMPLED)
    sampled = [at for at in range(0, len(lines), step) if len(lines[at].split()) >= LEAST_WORDS]
    for at in sampled:
        own = frozenset(lines[at].split())
        best, share = max(((place, _share(own, other)) for place, other in enumerate(words)), key=lambda pair: pair[1])
        if share >= ALIKE and _share(own, words[at]) < UNLIKE:
            moved.append((at, best))
    # a bad model's few sentences fit the same ones, and a few lines fit others by chance
    if len({best for _, best in moved}) <= max(LEAST_MOVED, len(sampled) * 2 * FEW):
        return
    (first, place), shifts = moved[0], {best - at for at, best in moved}
    common = max(shifts, key=[best - at for at, best in moved].count)
    if sum(best - at == common for at, best in moved) > 0.7 * len(moved) and abs(common) <= 5:
        slip = "missing" if common > 0 else "too many"
        number = f"{abs(common)} line{'s are' if abs(common) > 1 else ' is'}"
        yield f"{number} {slip} before line {first + 1}: from there on, lines fit other references"
    else:
        yield f"the lines are in another order: line {first + 1} fits reference {place + 1}"


def _share(line: frozenset[str], other: frozenset[str]) -> float:
    return len(line & other) / max(1, len(line | other))
