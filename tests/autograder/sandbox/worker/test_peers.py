"""Submissions that change how the worker beside them answers, or what it hears: the component is reported."""

import pytest
import torch

MEDDLING = """
import gc, json
from torch import nn


class FeedForward(nn.Linear):
    def forward(self, x):
        {}
        return x
"""
LYING = 'vars(json)["dumps"] = lambda *given, dumps=json.dumps, **options: dumps(*given, **options)'
DEAFENING = """for function in gc.get_objects():
            if getattr(function, "__qualname__", "") == "watch.<locals>.hook":
                cells = dict(zip(function.__code__.co_freevars, function.__closure__))
                cells["most"].cell_contents = 0"""


@pytest.mark.hostile
@pytest.mark.parametrize("meddling", [LYING, DEAFENING], ids=["how a worker answers", "a hook that no longer hears"])
def test_who_meddles_with_a_worker_is_reported(sandbox, meddling):
    submission = sandbox({"layers": MEDDLING.format(meddling)})
    submission.build("layers.FeedForward", 4, 4)(torch.ones(2, 4))
    submission.restart()
    assert submission.notices.unguarded == ["layers.FeedForward"]


CHANGED = """
import sys
from torch import nn


class FeedForward(nn.Linear):
    def forward(self, x):
        frame = sys._getframe()
        while "Worker" not in frame.f_globals:
            frame = frame.f_back
        worker = frame.f_globals["Worker"]
        worker.{name} = {value}
        return x
"""
CHANGES = {
    "find": "lambda self, *given, find=worker.find: find(self, *given)",
    "_prove": "property(lambda self: vars(self)['_prove'])",
}


@pytest.mark.hostile
@pytest.mark.parametrize("name", CHANGES)
def test_a_worker_that_was_changed_is_reported(sandbox, name):
    submission = sandbox({"layers": CHANGED.format(name=name, value=CHANGES[name])})
    submission.build("layers.FeedForward", 4, 4)(torch.ones(2, 4))
    submission.restart()
    assert submission.notices.unguarded == ["layers.FeedForward"]
    assert ("layers", 8, "sys._getframe") in submission.notices.seen
