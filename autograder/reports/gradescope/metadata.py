"""Gradescope's submission_metadata.json: when a submission was handed in, how late, and after which attempts.

This is only passed on: the course decides what lateness costs and which attempt counts. Names and addresses of
students are not read.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any


class MetadataError(ValueError):
    """The metadata cannot be used; the message says where and why."""


@dataclass(frozen=True)
class SubmissionMetadata:
    """One submission.

    Attributes:
        identity: Gradescope's number of the submission.
        method: "upload", "GitHub", …
        created: when.
        due: the latest due date of the group; None = none is set.
        late_due: the end of the late period, likewise.
        earlier_scores: of earlier attempts, oldest first; None where the grader failed.
    """

    identity: str
    method: str
    created: datetime
    due: datetime | None
    late_due: datetime | None
    earlier_scores: tuple[float | None, ...]

    @property
    def late_seconds(self) -> float:
        """Seconds after the due date; 0 = in time."""
        return max(0.0, (self.created - self.due).total_seconds()) if self.due else 0.0

    def notes(self, tells_scores: bool = True) -> list[str]:
        """What the student reads about it.

        Args:
            tells_scores: whether to tell the points of earlier attempts; they include those of hidden parts.
        """
        notes = []
        if self.late_seconds:
            ended = self.late_due is not None and self.created > self.late_due
            after = ", and after the late period" if ended else ""
            notes.append(f"handed in {_duration(self.late_seconds)} after the due date{after}")
        if self.earlier_scores:
            shown = ", ".join("not graded" if score is None else f"{score:g}" for score in self.earlier_scores[-5:])
            before = f"; points before: {shown}" if tells_scores else ""
            notes.append(f"attempt {len(self.earlier_scores) + 1}{before}")
        return notes

    def as_dict(self) -> dict[str, object]:
        """For `extra_data`."""
        return {
            "submission_id": self.identity,
            "method": self.method,
            "at": self.created.isoformat(),
            "due": self.due and self.due.isoformat(),
            "late_due": self.late_due and self.late_due.isoformat(),
            "late_seconds": round(self.late_seconds),
            "attempt": len(self.earlier_scores) + 1,
            "earlier_scores": list(self.earlier_scores),
        }


def read_metadata(path: Path) -> SubmissionMetadata:
    """Reads the file. Raises: MetadataError where it is missing or not of that shape."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        assignments = [content["assignment"], *(user.get("assignment") or {} for user in content.get("users") or ())]
        return SubmissionMetadata(
            identity=str(content.get("id", "")),
            method=str(content.get("submission_method", "")),
            created=_time(content["created_at"]),
            due=_latest(assignments, "due_date"),
            late_due=_latest(assignments, "late_due_date"),
            earlier_scores=tuple(_score(earlier) for earlier in content.get("previous_submissions") or ()),
        )
    except OSError as error:
        raise MetadataError(f"{path.name}: {error.strerror or error}") from None
    except KeyError as error:
        raise MetadataError(f"{path.name} has no {error}") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise MetadataError(f"{path.name} is not of Gradescope's shape: {error}") from None


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return time


def _latest(assignments: list[dict[str, Any]], key: str) -> datetime | None:
    """In a group, the longest extension counts."""
    times = [_time(assignment[key]) for assignment in assignments if assignment.get(key)]
    return max(times, default=None)


def _score(earlier: dict[str, Any]) -> float | None:
    score = earlier.get("score")
    return None if score is None or earlier.get("autograder_error") else float(score)


def _duration(seconds: float) -> str:
    """Two units at most: 45 s, 5 min, 2 h 5 min, 3 d 1 h."""
    minutes, days = int(seconds // 60), int(seconds // 86400)
    if minutes == 0:
        return f"{max(1, round(seconds))} s"
    hours = minutes // 60
    if days:
        return f"{days} d {hours % 24} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"
