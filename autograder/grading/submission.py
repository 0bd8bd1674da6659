"""One submission, from what was taken in to all events of its grading."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..intake import Intake, IntakeRefusedError
from .events import Event, Finished, Refused, TakenIn
from .seeds import Seeds, content_hash

if TYPE_CHECKING:  # needs PyTorch, which whoever opens the grader imports
    from .judging import Grader


def events_of(
    intake: Intake, seeds: Seeds, grader: Grader, *, tries_training: bool = False, show_progress: bool = False
) -> Iterator[Event]:
    """The events of grading a submission with the seed that it gets in this term."""
    content = content_hash(intake.hashes)
    yield TakenIn(intake.hashes, seeds.id_of(content))
    seed = seeds.seed_of(content)
    yield from grader.judge(intake, seed, tries_training=tries_training, show_progress=show_progress)


def refusal(error: IntakeRefusedError) -> Iterator[Event]:
    """The events of a submission that is there, but of a kind that is not graded."""
    yield TakenIn(error.hashes)
    yield Refused(error.reason)
    yield Finished()
