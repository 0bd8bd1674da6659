"""Second tries, in workers that no other component has touched: what other code does to a worker costs no task."""

from collections.abc import Mapping, Sequence

import pytest

from ...grading.marks import Outcome
from ...sandbox.proxy.submission import Sandbox
from .checking_time import TOO_LONG
from .collection import run_items

FRESH_WORKERS = 4
"""In each of so many workers a test must pass that failed in one that other components have used."""


def try_again(items: Sequence[pytest.Item], submission: Sandbox, outcomes: Mapping[str, Outcome]) -> None:
    """Lets tests pass that pass in each of some fresh workers; the others keep what failed them there.

    Args:
        items: tests that did not pass.
        submission: on which they run again.
        outcomes: by node id, as each run of a test renews them.
    """
    hopeful = [item for item in items if outcomes[item.nodeid].message != TOO_LONG]
    for _ in range(FRESH_WORKERS):
        if hopeful:
            submission.restart()
            run_items(hopeful)
            hopeful = [item for item in hopeful if not outcomes[item.nodeid].is_missed]
