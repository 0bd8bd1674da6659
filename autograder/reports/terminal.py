"""A record as text: a table for people, and what a student reads about one part of it, wherever it is shown."""

from foundation.texts import as_score, counted, printable

from ..grading.record import MAX_TEXT, MOST_SHOWN, NOT_TAKEN, Part, Record, Run
from ..grading.scoring import shown
from ..testing.results import State


def text_of(part: Part) -> str:
    """A named misconception first, then the rest, as one text."""
    return "\n".join(filter(None, [part.diagnosis.text if part.diagnosis else "", *details_of(part)]))


def details_of(part: Part) -> list[str]:
    """The rubric, the numbers, and lines of code, where there are any."""
    return [text for text in (rubric_of(part), part.message, part.traceback) if text]


def rubric_of(part: Part) -> str:
    """The rubric of a part that is neither whole nor empty, a line an item: "✗ masks: 0 of 4"."""
    if part.state is State.PASSED or not any(item.score or not item.missed for item in part.items):
        return ""
    lines = []
    for item in part.items:
        is_earned = not item.missed and not item.requires
        points = f": {as_score(item.score)} of {as_score(item.points)}" if part.points else ""
        why = f", worth nothing without “{item.requires}”" if item.requires and not item.missed else ""
        lines.append(f"{'✓' if is_earned else '✗'} {item.name}{points}{why}")
    return "\n".join(lines)


MARKS = {
    State.PASSED: "✓",
    State.NEEDS_READER: "?",
    State.NOT_ATTEMPTED: "·",
    State.NOT_GRADED: "!",
    State.GRADER_ERROR: "!",
    State.PENDING: "…",
}


def as_table(record: Record) -> str:
    """Tasks and points, one line each, then the messages."""
    judgement, run = record.judgement, record.run
    lines = [f"{judgement.assignment}: {printable(record.submission)}", ""]
    width = max(len(part.title) for part in judgement.parts)
    for part in judgement.parts:
        score, state = (None, NOT_TAKEN) if part.waits else (part.score, part.state)
        points = f"{_as_points(score)} / {part.points:<5g}" + ("  (extension)" if part.extension else "")
        mark = MARKS.get(part.state, "✗")
        lines.append(f"  {mark} {part.number:<4} {part.title:<{width}} {points} {state}")
    needs_review = "  (needs review)" if judgement.score is None else ""
    lines += ["", f"  {'score':<{width + 7}} {_as_points(judgement.score)} / {judgement.max_score:g}{needs_review}"]
    if bleu := judgement.bleu:
        interval = f"95% interval {shown(bleu.low)} to {shown(bleu.high)}"
        lines.append(f"  BLEU {shown(bleu.value)}, {interval}, {counted(bleu.sentences, 'line')}")
    names_of: dict[str, list[str]] = {}  # a message that several parts share is printed once
    for part in judgement.parts:
        if text := text_of(part):
            names_of.setdefault(text, []).append(f"{part.number} {part.title}")
    for text, names in names_of.items():
        lines += ["", names[0] if len(names) == 1 else f"{names[0]}, and {len(names) - 1} more"]
        lines += ["    " + line for line in printable_lines(text)]
    for note in (*run.notes, *judgement.notes):
        lines += ["", f"note: {printable(note, MAX_TEXT)}"]
    if judgement.internals:
        lines += ["", "to be read by a person (uses of PyTorch's and Python's internals, code of the tests):"]
        lines += [f"    {printable(use, MAX_TEXT)}" for use in judgement.internals[:MOST_SHOWN]]
    seed_id = judgement.seed_id or "none"
    lines += ["", f"sandbox: {containment_of(run)}   seed id: {seed_id}   {run.seconds:.1f} s"]
    return "\n".join(lines)


def _as_points(score: float | None) -> str:
    return f"{'–' if score is None else format(score, '.2f'):>6}"


def containment_of(run: Run) -> str:
    """The layers of containment in one word."""
    if run.layers is None:
        return "none"
    names = "+".join(run.layers)
    return names if "seccomp" in run.layers else f"{names or 'rlimits only'} (unsafe)"


def printable_lines(text: str) -> list[str]:
    """The lines of a message, each as long as it is."""
    return [printable(line, MAX_TEXT) for line in text.split("\n")]
