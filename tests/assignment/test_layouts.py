"""Right components keep their points however their parameters are laid out; faulty ones do not.

The layouts are drawn from a seed. Tests take a sample of them, with `--whole` all.
"""

import math
import re
import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from autograder.testing.results import State, worst
from autograder.testing.results import tests_of as results_of
from validity.run_tests import run_versions

from .layouts import drawn

SHARES = {
    "attention.MultiHeadedAttention": 130,
    "layers.EncoderLayer": 40,
    "layers.DecoderLayer": 40,
    "layers.FeedForward": 30,
    "embedding.InputEmbedding": 20,
    "layers.LayerNorm": 15,
    "model.Transformer": 15,
    "model.Encoder": 10,
}
"""How many layouts of each are drawn: 300 in all."""

ALL = [(kind, number) for kind, count in SHARES.items() for number in range(count)]
MOST_FOR_A_READER = 0.03


def states_of(layouts, reference, assignment):
    """The worst state of the tasks that judge a layout, and why, by its name."""
    found = {}
    for run in run_versions(layouts, reference, assignment):
        results = [result for result in results_of(assignment, run.outcomes) if result.outcomes]
        found[run.version] = worst(result.state for result in results), "\n".join(result.message for result in results)
    return found


@pytest.mark.slow
def test_right_layouts_keep_all_points(reference, assignment, sampled):
    layouts = [drawn(reference, kind, number) for kind, number in sampled(ALL, 46)]
    found = states_of(layouts, reference, assignment)
    lost = {name: why for name, (state, why) in found.items() if state not in (State.PASSED, State.NEEDS_READER)}
    assert lost == {}
    readers = [name for name, (state, _) in found.items() if state is State.NEEDS_READER]
    assert len(readers) <= math.ceil(MOST_FOR_A_READER * len(layouts)), readers


FAULTS = tomllib.loads(Path(__file__).with_name("unusual.toml").read_text(encoding="utf-8"))["layout"]


@pytest.mark.slow
def test_faults_in_unusual_layouts_are_found_or_need_a_reader(reference, assignment, sampled):
    layouts, count = [], len(sampled(range(5), 5))
    for name in sampled(FAULTS, 3):
        change = partial(re.sub, FAULTS[name]["pattern"], FAULTS[name]["replacement"])
        kinds = [kind for kind in SHARES if kind.startswith(tuple(FAULTS[name]["places"]))]
        faulty = []
        for kind, number in ((kind, number) for number in range(40) for kind in kinds):
            if len(faulty) < count:
                layout = drawn(reference, kind, number, change)
                if layout != drawn(reference, kind, number):
                    faulty.append(replace(layout, name=f"{name}: {layout.name}"))
        assert len(faulty) == count, name
        layouts += faulty
    found = states_of(layouts, reference, assignment)
    assert [name for name, (state, _) in found.items() if state is State.PASSED] == []
