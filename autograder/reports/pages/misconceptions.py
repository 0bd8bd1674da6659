"""What the class got wrong, the most frequent first, with a hint for the next lecture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from ...diagnosis.catalogue import Fault
from ...grading.record import Record


@dataclass(frozen=True)
class Misconception:
    """A misconception that the diagnosis has named.

    Attributes:
        fault: in the catalogue.
        title: of the task.
        keys: of the submissions that have it.
    """

    fault: Fault
    title: str
    keys: tuple[str, ...]


def ranked(records: Mapping[str, Record], catalogue: Mapping[str, Fault]) -> list[Misconception]:
    """All named misconceptions; of equally frequent ones the earlier task first.

    Args:
        records: of the class.
        catalogue: faults by id; what is no longer in it is left out.
    """
    keys: dict[str, dict[str, None]] = defaultdict(dict)
    titles = {}
    for key, record in records.items():
        for part in record.judgement.parts:
            titles[part.number] = part.title
            if part.diagnosis and part.diagnosis.fault in catalogue:
                keys[part.diagnosis.fault][key] = None  # once, even where two tasks show it
    tasks = {id_: catalogue[id_].task for id_ in keys}  # of today: records may wait that know other numbers
    found = [Misconception(catalogue[id_], titles.get(task, task), tuple(keys[id_])) for id_, task in tasks.items()]
    return sorted(found, key=lambda one: (-len(one.keys), one.fault.task, one.fault.id))
