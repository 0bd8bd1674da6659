"""The files for one platform: a table of marks, and an archive with a page for each student."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ...classroom.record_names import record_names
from ...grading.record import write_result
from ..pages.writing import STUDENTS
from ..spreadsheets import as_csv
from . import canvas, gradescope, moodle, plain
from .marks import About, Mark, Table

MIDNIGHT = (1980, 1, 1, 0, 0, 0)  # the same marks make the same archive


class Platform(Protocol):
    """A module for one platform."""

    def table(self, marks: Sequence[Mark], about: About) -> Table:
        """The file to import."""
        ...

    def feedback_file(self, mark: Mark) -> str | None:
        """How the platform finds the student of a feedback file; None = it does not."""
        ...


PLATFORMS: Mapping[str, Platform] = {"canvas": canvas, "moodle": moodle, "gradescope": gradescope, "plain": plain}
OWN_NAMES = ("canvas", "moodle")
"""Platforms that take feedback files; those without the right name would be dropped there, and are left out here."""


@dataclass(frozen=True)
class Export:
    """What was written for a platform.

    Attributes:
        marks: the table.
        feedback: the archive.
        unknown: students with a score whom the platform could not find.
        without_feedback: students with a score of whom no page could be put into the archive.
        note: what a person should see to before the import, or "".
        doubt: why the marks would come into another place than the one that is meant, or "".
    """

    marks: Path
    feedback: Path
    unknown: tuple[str, ...]
    without_feedback: tuple[str, ...]
    note: str = ""
    doubt: str = ""


def export(platform: str, marks: Sequence[Mark], about: About, source: Path, output: Path) -> Export:
    """Writes `PLATFORM.csv` and `PLATFORM-feedback.zip`.

    Args:
        platform: one of PLATFORMS.
        marks: of all students.
        about: what they are for.
        source: the folder of marks, with the students' pages.
        output: where to write.

    Raises:
        NotWrittenError: where that fails.
    """
    table = PLATFORMS[platform].table(marks, about)
    path = output / f"{platform}.csv"
    write_result(path, as_csv(table.heading, table.rows))
    pages, without = pages_of(platform, [mark for mark in marks if mark.result.score is not None], source)
    archive = output / f"{platform}-feedback.zip"
    write_result(archive, as_zip(pages))
    return Export(path, archive, tuple(table.unknown), tuple(without), table.note, table.doubt)


def pages_of(platform: str, marks: Sequence[Mark], source: Path) -> tuple[dict[str, bytes], list[str]]:
    """The students' pages by their names on the platform, and the students of whom there is none."""
    stems = record_names([mark.result.member.id for mark in marks])
    pages, without = {}, []
    for mark in marks:
        name = PLATFORMS[platform].feedback_file(mark)
        if name is None and platform not in OWN_NAMES:
            name = f"{stems[mark.result.member.id]}.html"
        try:
            content = (source / STUDENTS / f"{mark.result.member.key}.html").read_bytes()
        except OSError:
            name = None
        if name is None:
            without.append(mark.name_and_id)
        else:
            pages[name] = content
    return pages, without


def as_zip(files: Mapping[str, bytes]) -> bytes:
    """An archive that depends on the files alone."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, MIDNIGHT), files[name], zipfile.ZIP_DEFLATED)
    return content.getvalue()
