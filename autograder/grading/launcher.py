"""Starts a grader: the zygote first, and beside it what the grader itself needs of PyTorch.

Both load PyTorch for seconds, each in its own process. This module loads none, so that the zygote is on its way
before the rest is imported; all other modules import what they need at their top.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.assignment_file import Assignment

from ..sandbox.containment.zygote import Zygote

if TYPE_CHECKING:
    from .judging import Grader


@contextmanager
def open_grader(
    assignment: Assignment, references: Path, level: str = "auto", zygote: Zygote | None = None
) -> Iterator[Grader]:
    """A grader for any number of submissions, one after the other; ended with the block.

    Args:
        assignment: tasks, points, thresholds, limits.
        references: the test split, `source|||target` lines.
        level: of containment; see `containment.layers.LEVELS`.
        zygote: one that runs already, and belongs to the caller; None = one at this level is started.

    Raises:
        SandboxUnavailableError: where the machine does not offer the level, or the tests cannot be collected.
    """
    running = Zygote(assignment, level) if zygote is None else zygote
    grader: Grader | None = None
    try:
        from ..testing.collected_tests import CollectedTests  # PyTorch is imported here
        from .judging import Grader

        tests = CollectedTests(assignment)
        grader = Grader(assignment, references, tests, running, level)
        yield grader
    finally:
        if zygote is None:
            (grader.zygote if grader is not None else running).close()
