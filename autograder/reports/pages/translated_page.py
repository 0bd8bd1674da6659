"""Which checkpoints of a class give the translations that were handed in, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from foundation.assignment_file import Assignment
from foundation.whole_files import write_whole

from .writing import CLASS, SIMILAR, STUDENTS, TRANSLATED, make_environment

if TYPE_CHECKING:  # needs PyTorch
    from ...classroom.similarity.translating_again import CheckedClass


def write_translated_page(found: CheckedClass, assignment: Assignment, output: Path) -> Path:
    """Writes `translated-again.html`; its path.

    Args:
        found: what translating again has shown.
        assignment: its title.
        output: an existing folder.
    """
    keys = [one.key for one in found.submissions]
    pages = {key: f"{STUDENTS}/{quote(key)}.html" for key in keys if (output / STUDENTS / f"{key}.html").is_file()}
    by_outcome = {
        name: sorted((one for one in found.submissions if one.outcome == name), key=lambda one: (one.same, one.name))
        for name in ("differs", "not translated", "agrees", "nothing to check")
    }
    lacking: dict[str, list[str]] = {}
    for one in by_outcome["nothing to check"]:
        lacking.setdefault(one.reason, []).append(one.key)
    text = (
        make_environment()
        .get_template("translated.html")
        .render(
            title=assignment.title,
            found=found,
            by_outcome=by_outcome,
            lacking=sorted(lacking.items(), key=lambda item: -len(item[1])),
            names={one.key: one.name or one.key for one in found.submissions},
            pages=pages,
            has_class_page=(output / CLASS).is_file(),
            has_similar_page=(output / SIMILAR).is_file(),
        )
    )
    path = output / TRANSLATED
    write_whole(path, text)
    return path
