"""Which of the newest results count from now on: those that change no mark, and on demand the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..grading.record import Record
from .entries import Entry
from .marks import Change, change_of
from .store import Received, Results


@dataclass(frozen=True)
class Held:
    """A mark that would change.

    Attributes:
        entry: the submission.
        change: what would change, and why.
        is_kept: whether the new result counts already.
        has_failed: whether the grader failed this time; then the earlier result stays in any case.
    """

    entry: Entry
    change: Change
    is_kept: bool = False
    has_failed: bool = False


def repeated(
    entry: Entry, received: Received, record: Record, results: Results, keeps_changes: bool
) -> tuple[int, Held] | None:
    """A mark that another run of the same files, by the same version with the same seed, would change.

    There is one result of these, so that the new one must take the place of the one that counts, or not be stored.

    Args:
        entry: the submission.
        received: the same.
        record: of the new run.
        results: of the class.
        keeps_changes: whether changed marks count.

    Returns:
        The id of the result that counts at present, and the change; None where the mark is the same, the two are not of
        the same files, version and seed, or the grader failed over either.
    """
    old = results.kept(received)
    if old is None or _key(old.record) != _key(record) or not (old.record.is_finished and record.is_finished):
        return None
    change = change_of(old.record.judgement, record.judgement)
    return None if change is None else (old.id, Held(entry, change, keeps_changes))


def _key(record: Record) -> tuple[str, ...]:
    judgement = record.judgement
    return (judgement.content_hash, judgement.grader_version, judgement.seed_id, judgement.weighting)


def keep_newest(
    entries: Sequence[Entry],
    received: Mapping[str, Received],
    newest: Mapping[str, int],
    results: Results,
    keeps_changes: bool,
) -> list[Held]:
    """Lets the newest results count, but for those that change a mark for the same files.

    Args:
        entries: the submissions.
        received: by the entry's key.
        newest: ids of results, likewise.
        results: of the class.
        keeps_changes: whether changed marks count, too.

    Returns:
        The changes, kept or not.
    """
    found = []
    for entry in entries:
        who, result = received[entry.key], newest[entry.key]
        old = results.kept(who)
        if old is not None and old.id == result:
            continue
        new = results.get(result)
        change = change_of(old.record.judgement, new.record.judgement) if old and new else None
        if old is None or new is None or old.attempt != new.attempt or not old.record.is_finished or change is None:
            results.keep(who, result)
            continue
        has_failed = not new.record.is_finished
        is_kept = keeps_changes and not has_failed
        if is_kept:
            results.keep(who, result)
        found.append(Held(entry, change, is_kept, has_failed))
    return found
