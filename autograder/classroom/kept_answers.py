"""What is found out about each submission of a class, kept as soon as it is known: a run that is stopped goes on.

    kept = KeptAnswers(output / "sheets", Sheet, made_with, seeds)
    found = kept.up_to_date(entries, contents)
    for entry, answer in kept.find_out(left, work, seconds, n_children):
        ...

There is a file for each submission, written whole or not at all and sealed with the term's secret. An answer holds as
long as the submission's files and all else that it was made with stay the same.
"""

from __future__ import annotations

import hmac
import json
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError
from tqdm import tqdm

from foundation.child_processes import Ended, run_forked
from foundation.texts import printable

from ..grading.record import Model, write_json
from ..grading.seeds import Seeds
from .entries import Entry
from .records import check_still_there

Answer = TypeVar("Answer")

MOST_NAMES = 8


class Kept(Model):
    """An answer in its file.

    Attributes:
        key: of the submission.
        content: a hash of its files.
        made_with: tells everything else that the answer depends on.
        answer: as JSON.
        seal: over all of the others.
    """

    key: str
    content: str
    made_with: str
    answer: JsonValue
    seal: str = ""

    def sealed(self, seeds: Seeds) -> str:
        """The seal that only the holder of the term's secret can make."""
        content = json.dumps(self.changed(seal="").model_dump(mode="json"), sort_keys=True)
        return seeds.code_of("kept answer", content)


class KeptAnswers(Generic[Answer]):
    """A folder of answers about the submissions of a class."""

    def __init__(self, folder: Path, kind: type[Answer], made_with: str, seeds: Seeds) -> None:
        """Opens it.

        Args:
            folder: an existing one; see `records.hold`.
            kind: of the answers: a dataclass, or a model.
            made_with: tells everything that they depend on but the submission.
            seeds: of the term, whose secret seals.
        """
        self._folder, self._made_with, self._seeds = folder, made_with, seeds
        self._adapter = TypeAdapter(kind)

    def up_to_date(self, entries: Sequence[Entry], contents: Mapping[Entry, str]) -> dict[str, Answer]:
        """The answers of earlier runs that still hold, by the submission's key; says how many there are.

        Args:
            entries: the submissions.
            contents: hashes of the files of those that can be read.
        """
        found: dict[str, Answer] = {}
        forged = []
        for entry in entries:
            text = self._text_of(entry)
            if text is None:
                continue
            kept = self._read(entry, text)
            if kept is None:
                forged.append(printable(entry.entry, 40))
            elif (kept.content, kept.made_with) == (contents.get(entry), self._made_with):
                found[entry.key] = self._adapter.validate_python(kept.answer)
        if forged:
            more = ", …" * (len(forged) > MOST_NAMES)
            what = f"this term's grader has not sealed what was kept of {', '.join(forged[:MOST_NAMES])}{more}"
            print(f"note: {what}: done again", file=sys.stderr)
        if found:
            print(f"note: kept from an earlier run: {len(found)} of {len(entries)} submissions", file=sys.stderr)
        return found

    def find_out(
        self,
        entries: Sequence[Entry],
        work: Callable[[Entry], tuple[str, Answer]],
        seconds: float,
        n_children: int,
        show_progress: bool = False,
    ) -> Iterator[tuple[Entry, Answer | Ended]]:
        """Finds out about each entry in a child of its own, and keeps the answers.

        Args:
            entries: the submissions.
            work: called in the child: a hash of the files, and the answer.
            seconds: wall time of a child.
            n_children: how many run at a time.
            show_progress: shows a progress bar.

        Yields:
            Each entry once: with its answer, which is on the disk then, or with how its child ended without one.

        Raises:
            NotWrittenError: where an answer cannot be kept; those before it are.
        """
        answered = set()
        tqdm.monitor_interval = 0  # its thread would be forked along
        with tqdm(desc="students", unit="student", total=len(entries), disable=not show_progress) as bar:
            for entry, message in run_forked(deque(entries), lambda one: [work(one)], seconds, n_children):
                if not isinstance(message, Ended):
                    content, answer = message
                    self._keep(entry, content, answer)
                    answered.add(entry)
                    yield entry, answer
                else:
                    bar.update()
                    if entry not in answered:
                        yield entry, message

    def _keep(self, entry: Entry, content: str, answer: Answer) -> None:
        whole = self._adapter.dump_python(answer, mode="json")
        kept = Kept(key=entry.key, content=content, made_with=self._made_with, answer=whole)
        check_still_there(self._folder)
        write_json(self._path(entry), kept.changed(seal=kept.sealed(self._seeds)).model_dump(mode="json"))

    def _text_of(self, entry: Entry) -> bytes | None:
        """What is in an entry's file; None where there is none."""
        try:
            return self._path(entry).read_bytes()
        except FileNotFoundError:
            return None
        except OSError:
            return b""

    def _read(self, entry: Entry, text: bytes) -> Kept | None:
        """What was kept of an entry; None where it is not as this term's grader wrote it."""
        try:
            kept = Kept.model_validate_json(text)
        except ValidationError:
            return None
        seal = kept.sealed(self._seeds)
        return kept if kept.key == entry.key and hmac.compare_digest(kept.seal.encode(), seal.encode()) else None

    def _path(self, entry: Entry) -> Path:
        return self._folder / f"{entry.key}.json"
