"""Does a checkpoint give the translations that were handed in? Some lines are translated again.

Everything untrusted happens in the sandbox's worker: PyTorch reads the checkpoint there, with `weights_only=True`, and
the submission's code decodes. This process sends bytes and gets lines back.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from foundation.assignment_file import Assignment, AssignmentError
from foundation.command_line import UserError
from foundation.texts import printable

from ...assignment_parts import source_of
from ...intake import TRANSLATIONS, Intake
from ...intake.tree import CHECKPOINT, read_file
from ...sandbox.errors import SubmissionError
from ...sandbox.submission import Sandbox
from ...sandbox.zygote import Zygote
from ...scoring import parse_translations, read_references, undo_bpe
from ...scoring.reading import SEPARATOR, read_bounded_text
from ...sources import RefusedError
from ...testing.results import CollectionError

MODULE = "translating_again"
"""Of the assignment: it is put beside the submission's modules."""
MOST_BYTES = 64_000_000
SECONDS = 300.0
BEAM_SIZES = (0, 1, 4, 5)
"""As the checkpoint says, greedily, and the usual ones: a student may have given another one as a flag."""
ENOUGH = 0.9
"""Share of lines that have to agree; rounding on another machine may decide between two words now and then."""


@dataclass(frozen=True)
class DifferingLine:
    """A line that comes out otherwise: its number in the file, from 1, as handed in, and as translated again."""

    number: int
    submitted: str
    again: str


@dataclass(frozen=True)
class Agreement:
    """What translating again has shown."""

    sampled: int  # how many lines were translated again
    differing: tuple[DifferingLine, ...] = ()  # those that came out otherwise
    beam_size: int = 0  # of the search that agrees best; 0 = as the checkpoint says
    problem: str = ""  # why nothing could be translated, or ""

    @property
    def agrees(self) -> bool:
        """Whether a person need not look."""
        return not self.problem and self.sampled - len(self.differing) >= ENOUGH * self.sampled


@dataclass(frozen=True)
class Sample:
    """Random lines of the test split."""

    numbers: tuple[int, ...]  # counted from 0, in order
    sources: tuple[str, ...]  # of these lines
    total: int  # lines in the split


def draw_sample(references: Path, n_lines: int, seed: int) -> Sample:
    """Draws so many lines to translate of the test split's `source|||target` lines.

    Raises:
        UserError: where the references cannot be read, or have no sources.
    """
    total = len(read_references(references))
    text = read_bounded_text(references, str(references)).split("\n")[:total]
    if any(SEPARATOR not in line for line in text):
        raise UserError(f"{references}: has no sources; expected lines of the form source|||target")
    sources = [line.partition(SEPARATOR)[0].strip() for line in text]
    numbers = sorted(random.Random(seed).sample(range(total), min(n_lines, total)))  # noqa: S311
    return Sample(tuple(numbers), tuple(sources[number] for number in numbers), total)


def translate_again(
    intake: Intake, checkpoint: bytes | None, sample: Sample, assignment: Assignment, zygote: Zygote
) -> Agreement:
    """Translates a sample of lines again, with the content of a checkpoint; None = of the one in the submission.

    Raises:
        UserError: where checkpoint or translations are missing, or cannot be read.
        SandboxUnavailableError: where the sandbox fails.
    """
    submitted = submitted_lines(intake, sample.total)
    saved = intake.checkpoint if checkpoint is None else checkpoint
    if not saved:
        raise UserError(f"{intake.name}: no {CHECKPOINT} in it; name the file with --checkpoint")
    content = torch.frombuffer(bytearray(saved), dtype=torch.uint8)
    code = source_of(assignment, MODULE)
    if code is None:
        raise AssignmentError(f"{assignment.folder / MODULE}.py: missing, so that nothing can be translated again")
    limits = replace(assignment.limits, call_seconds=SECONDS, total_seconds=2 * SECONDS, cpu_seconds=int(2 * SECONDS))
    best: Agreement | None = None
    with Sandbox({**intake.sources, MODULE: code}, replace(assignment, limits=limits), zygote=zygote) as sandbox:
        for beam_size in BEAM_SIZES:
            arguments = (content, list(sample.sources), beam_size)
            try:
                answer = sandbox.call(f"{MODULE}.translate_again", *arguments, isolated=False)
            except SubmissionError as error:
                if best is None:
                    best = Agreement(len(sample.numbers), problem=printable(str(error), 300))
                break
            found = compared(sample.numbers, submitted, answer, beam_size)
            if best is None or len(found.differing) < len(best.differing):
                best = found
            if best.agrees:
                break
    if best is None:
        raise CollectionError("nothing was translated")
    return best


def compared(numbers: Sequence[int], submitted: list[str], answer: object, beam_size: int) -> Agreement:
    """The sampled lines beside what came back, which may be anything."""
    if not isinstance(answer, list) or len(answer) != len(numbers) or not all(isinstance(one, str) for one in answer):
        return Agreement(len(numbers), problem="what came back are not as many lines as were sent")
    pairs = [
        (number, undo_bpe(submitted[number]), undo_bpe(again)) for number, again in zip(numbers, answer, strict=True)
    ]
    differing = tuple(
        DifferingLine(number=number + 1, submitted=ours, again=again) for number, ours, again in pairs if ours != again
    )
    return Agreement(len(numbers), differing, beam_size)


def submitted_lines(intake: Intake, expected: int) -> list[str]:
    """The submission's translations, one for each line of the test split."""
    if intake.translations is None:
        raise UserError(f"{intake.name}: {intake.translations_problem or f'no {TRANSLATIONS} in it'}")
    return parse_translations(intake.translations, f"{intake.name}: {TRANSLATIONS}", expected=expected)


def bytes_of(checkpoint: Path) -> bytes:
    """The content of an untrusted file; no link is followed."""
    try:
        return read_file(checkpoint, MOST_BYTES)
    except RefusedError as error:
        raise UserError(f"{checkpoint}: {error}; expected a checkpoint that `train` saved") from None
