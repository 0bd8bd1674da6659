"""What a grading tells while it goes on. Whoever asked for it folds the events into a record; see `recording`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..scoring import Score
from ..testing.results import TaskResult
from .record import Learned, Training


@dataclass(frozen=True)
class TakenIn:
    """The submission was read; its judgement begins, also where an earlier one was given up.

    Attributes:
        files: file name -> sha256 of what was taken in.
        seed_id: names the seed of the tests' inputs; empty where no test runs.
    """

    files: Mapping[str, str]
    seed_id: str = ""


@dataclass(frozen=True)
class Refused:
    """The submission cannot be graded: no score, and the reason."""

    reason: str


@dataclass(frozen=True)
class TasksJudged:
    """Results of some tasks; later ones of the same task replace earlier ones."""

    results: tuple[TaskResult, ...]


@dataclass(frozen=True)
class TranslationsScored:
    """BLEU of translations.txt."""

    score: Score


@dataclass(frozen=True)
class TrainingTried:
    """The short training run of the whole is over."""

    training: Training


@dataclass(frozen=True)
class ModelShown:
    """The model whose checkpoint was handed in has translated a sentence, or could not."""

    learned: Learned


@dataclass(frozen=True)
class Contained:
    """Submitted code has run.

    Attributes:
        layers: of containment that were in force.
        printed: what it has printed so far.
    """

    layers: tuple[str, ...]
    printed: str


@dataclass(frozen=True)
class Noted:
    """Something that a person should know.

    Attributes:
        text: in a sentence.
        is_about_run: whether another run of the same submission may lack it.
    """

    text: str
    is_about_run: bool = False


@dataclass(frozen=True)
class InternalsFound:
    """The submission uses internals of PyTorch or Python, which a person should read.

    Attributes:
        uses: name, file and line of each.
    """

    uses: tuple[str, ...]


@dataclass(frozen=True)
class GivenUp:
    """The grader failed; what is pending will not be judged in this run."""

    reason: str


@dataclass(frozen=True)
class Finished:
    """All parts are judged."""


Event: TypeAlias = (
    TakenIn
    | Refused
    | TasksJudged
    | TranslationsScored
    | TrainingTried
    | ModelShown
    | Contained
    | Noted
    | InternalsFound
    | GivenUp
    | Finished
)
