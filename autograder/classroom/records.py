"""The folder that a class's results go to, and the records in it: `records/NAME.json` for each submission.

A record there is a copy of the store's result that counts, for people and other programs. It is written after each run
where it differs, and nothing is ever read from it. What else is found out about each submission is kept in a folder of
answers as soon as it is known, so that a run that is stopped goes on.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import json
import os
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError
from tqdm import tqdm

from foundation.child_processes import Ended, run_forked
from foundation.command_line import UserError
from foundation.texts import first_of, printable
from foundation.whole_files import make_folder

from ..grading.record import Model, NotWrittenError, Record, as_text, write_json, write_record
from ..grading.seeds import Seeds

if TYPE_CHECKING:
    from .entries import Entry

FEW, ALL = 8, 64
"""Digits of a name's hash: what two different names may share by chance or by craft, and what none do."""
Answer = TypeVar("Answer")
MOST_NAMES = 8


def record_names(names: Sequence[str]) -> dict[str, str]:
    """The record's file name for each entry; they differ even on systems that ignore case.

    Entries whose names come to the same file name get longer ones; no other entry's name depends on that.
    """
    made = {name: file_name(name) for name in names}
    for digits in (FEW, ALL):
        times = Counter(one.casefold() for one in made.values())
        made = {name: one if times[one.casefold()] == 1 else with_digest(name, digits) for name, one in made.items()}
    return made


def file_name(name: str) -> str:
    """The name itself if it is a safe file name and does not look derived from another one; else a derived one."""
    if re.fullmatch(r"[\w@+-][\w.@+-]{0,99}", name, re.ASCII) and not re.search(r"-[0-9a-f]{8,}$", name, re.IGNORECASE):
        return name
    return with_digest(name, FEW)


def with_digest(name: str, digits: int) -> str:
    """A file name derived from any name."""
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:digits]
    return f"{re.sub(r'[^A-Za-z0-9@+-]+', '_', name)[:60]}-{digest}"


RECORDS = "records"
UNFINISHED = ".unfinished-*"
"""What a process leaves behind that is killed while it writes; see `in_one_piece`."""


@contextlib.contextmanager
def hold(output: Path, *inner: str) -> Iterator[None]:
    """Keeps a folder of results, with folders in it, for this process; files that a killed process has begun go.

    All are made where they are missing.

    Raises:
        UserError: where another process holds it.
        NotWrittenError: where no files can be created in it.
    """
    places = [output, *(output / name for name in inner)]
    try:
        for place in places:
            make_folder(place)
        descriptor = os.open(output, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise NotWrittenError(output, error) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{output}: another command is writing there; wait until it has ended") from None
        except OSError:  # a file system without locks
            pass
        else:
            for path in (path for place in places for path in place.glob(UNFINISHED)):
                path.unlink(missing_ok=True)
        yield
    finally:
        os.close(descriptor)


def export(path: Path, record: Record) -> None:
    """Writes a record unless the file has it already. Raises: NotWrittenError where that fails."""
    check_still_there(path.parent)
    try:
        is_there = path.read_text(encoding="utf-8") == as_text(record)
    except (OSError, UnicodeDecodeError):
        is_there = False
    if not is_there:
        write_record(path, record)


def check_still_there(folder: Path) -> None:
    """Raises NotWrittenError where a folder of results is gone: it may have been on a disk that is not there now."""
    if not folder.is_dir():
        raise NotWrittenError(folder, FileNotFoundError("it was there at the beginning, and is gone"))


class Kept(Model):
    """An answer in its file."""

    key: str  # of the submission
    content: str  # a hash of its files
    made_with: str  # tells everything else that the answer depends on
    answer: JsonValue
    seal: str = ""  # over all of the others

    def sealed(self, seeds: Seeds) -> str:
        """The seal that only the holder of the term's secret can make."""
        content = json.dumps(self.changed(seal="").model_dump(mode="json"), sort_keys=True)
        return seeds.code_of("kept answer", content)


class KeptAnswers(Generic[Answer]):
    """A folder of answers, dataclasses or models, about the submissions of a class: a file each, whole and sealed.

    An answer holds as long as the submission's files and `made_with`, all else that it depends on, stay the same.
    """

    def __init__(self, folder: Path, kind: type[Answer], made_with: str, seeds: Seeds) -> None:
        """Opens an existing folder; see `hold`."""
        self._folder, self._made_with, self._seeds = folder, made_with, seeds
        self._adapter = TypeAdapter(kind)

    def up_to_date(self, entries: Sequence[Entry], contents: Mapping[Entry, str]) -> dict[str, Answer]:
        """The answers of earlier runs that still hold, by the submission's key; says how many there are.

        `contents` are hashes of the files of those that can be read.
        """
        found: dict[str, Answer] = {}
        forged = []
        for entry in entries:
            path = self._folder / f"{entry.key}.json"
            if not path.exists():
                continue
            try:
                kept = Kept.model_validate_json(path.read_bytes())
                is_ours = hmac.compare_digest(kept.seal.encode(), kept.sealed(self._seeds).encode())
            except (OSError, ValidationError):
                is_ours = False
            if not is_ours or kept.key != entry.key:
                forged.append(printable(entry.entry, 40))
            elif (kept.content, kept.made_with) == (contents.get(entry), self._made_with):
                found[entry.key] = self._adapter.validate_python(kept.answer)
        if forged:
            what = f"this term's grader has not sealed what was kept of {first_of(forged, MOST_NAMES)}"
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
        kept = kept.changed(seal=kept.sealed(self._seeds))
        write_json(self._folder / f"{entry.key}.json", kept.model_dump(mode="json"))
