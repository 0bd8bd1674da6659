"""What one sees of faulty code from outside, and what has to be observed to tell.

Each component is called a few times, before and after a change of its code, with the same inputs and parameters.

    seeing.py                what a symptom is, and questions to results
    attention.py, layers.py  the calls and the symptoms of each component
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.testing.case import Case
from autograder.testing.under_test import SubmissionUnderTest

from .attention import OF_ATTENTION
from .layers import OF_LAYERS
from .seeing import Observed

__all__ = ["SYMPTOMS", "observe"]

KNOWN = {**OF_ATTENTION, **OF_LAYERS}
SYMPTOMS = {component: symptoms for component, (_, symptoms) in KNOWN.items()}


def observe(component: str, submission: SubmissionUnderTest, case: Case) -> Observed:
    """The results that the symptoms of a component are told by, and "raised"."""
    found: dict[str, Any] = {"raised": False}

    def note(name: str, see: Callable[[], Any]) -> None:
        try:
            found[name] = see()
        except Exception:
            found["raised"] = True

    look, _ = KNOWN[component]
    look(submission, case, note)
    return found
