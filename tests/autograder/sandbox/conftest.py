"""Fixtures of the sandbox's tests: one zygote for all of them; submissions of the reference's modules and of text."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pytest

from autograder.running.collection import InProcessSubmission
from autograder.sandbox import layers
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.worker.peers import Host, Peer
from autograder.sandbox.zygote import Zygote
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE

ASSIGNMENT = read_assignment()
DECODE = """
import ctypes, os, random, sys, time, traceback
import numpy, torch

class Own(Exception):
    pass

def greedy_decode(expression, argument=None):
    return eval(expression, {**globals(), "argument": argument})

def fail(error):
    raise error

def loop():
    while True:
        pass

def take_memory(held=[]):
    while True:
        held.append(bytearray(50_000_000))

def say(lines):
    print("0123456789\\n" * lines)
    print("to stderr", file=sys.stderr)

def nested(levels):
    return [nested(levels - 1)] if levels else []
"""
"""The `decode` of the tests' submission: computes what it is asked for, in a call, and may go wrong with it."""
FROM_REFERENCE = ("attention", "embedding", "layers", "masks", "model")


FUNCTION, CLASS = "attention.function", "layers.Norm"
TEXTS = {
    FUNCTION: """
from typing import NamedTuple
import torch

class Result(NamedTuple):
    context: torch.Tensor
    weights: torch.Tensor

def implementation(query, key=None, how="named"):
    if how == "in place":
        query *= 2
        return query.sum()
    if how == "views":
        return query.mT, query[:1].expand(3, *query.shape[1:])
    if how == "raise":
        raise KeyError("the text of this must not be seen")
    return Result(query.sin() * key, torch.softmax(query, -1))
""",
    CLASS: """
import torch
from torch import nn

class implementation(nn.Module):
    def __init__(self, size, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return (self.gain * x.tanh() + self.shift) * (2 if self.training else 1) + 0 * self.calls
""",
}


@pytest.fixture(scope="session")
def bare_zygote() -> Iterator[Zygote]:
    """As on a machine without bubblewrap."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layers.shutil, "which", lambda *arguments, **options: None)
        started = Zygote(ASSIGNMENT)
    with started:
        yield started


@pytest.fixture
def seccomp_alone(monkeypatch) -> Callable[[Zygote], Zygote]:
    """Leaves a zygote's workers no other layer that they apply themselves."""

    def reduce(zygote: Zygote) -> Zygote:
        layers = dict.fromkeys(("no_new_privs", "seccomp"), "required")
        monkeypatch.setattr(zygote, "containment", replace(zygote.containment, layers=layers))
        return zygote

    return reduce


@pytest.fixture(scope="session")
def example_sources() -> dict[str, tuple[str, str]]:
    """Modules of the reference, and a `decode` that does whatever it is asked to."""
    texts = {name: (REFERENCE / f"{name}.py").read_text(encoding="utf-8") for name in FROM_REFERENCE}
    texts |= {"__init__": "", "decode": DECODE}
    return {name: (f"{name}.py", text) for name, text in texts.items()}


@pytest.fixture
def sandbox(zygote: Zygote, example_sources: dict) -> Iterator[Callable[..., Sandbox]]:
    """Makes sandboxes: `sandbox(limit=...)` of the example, `sandbox({"layers": text})` of other modules."""
    made = []

    def make(texts: dict[str, str] | None = None, **limits: float) -> Sandbox:
        sources = {**example_sources, **{name: (f"{name}.py", text) for name, text in (texts or {}).items()}}
        assignment = replace(ASSIGNMENT, limits=replace(ASSIGNMENT.limits, **limits))
        made.append(Sandbox(sources, assignment, zygote=zygote))
        return made[-1]

    yield make
    for submission in made:
        submission.restart()


@pytest.fixture
def ways(sandbox, example_sources, tmp_path, monkeypatch) -> Iterator[Callable[..., list]]:
    """A submission in both ways to run: in a worker, and in this process, which stands in an empty folder."""
    monkeypatch.chdir(tmp_path)
    made = []

    def both(texts: dict[str, str]) -> list[Sandbox | InProcessSubmission]:
        sources = {**example_sources, **{name: (f"{name}.py", text) for name, text in texts.items()}}
        made.append(InProcessSubmission(sources, ASSIGNMENT))
        return [sandbox(texts), made[-1]]

    yield both
    for submission in made:
        submission.close()


@pytest.fixture(scope="session")
def example(zygote: Zygote, example_sources: dict) -> Iterator[Sandbox]:
    """One sandbox with the example for all tests that leave it as it is."""
    with Sandbox(example_sources, ASSIGNMENT, zygote=zygote) as submission:
        yield submission


def here(name: str) -> Callable:
    """The function or class of TEXTS in this process."""
    names: dict = {}
    exec(TEXTS[name], names)
    return names["implementation"]


@pytest.fixture
def peer() -> Iterator[Peer]:
    """The way from students' own tests to implementations, which a thread of this process serves here."""
    (requests, to_host), (from_host, replies) = os.pipe(), os.pipe()

    def serve() -> None:
        with suppress(Exception):  # as the worker does
            Host({name: compile(text, "", "exec") for name, text in TEXTS.items()}).serve(requests, replies)

    host = threading.Thread(target=serve)
    host.start()
    peer = Peer(to_host, from_host)
    yield peer
    peer._sink.close()
    host.join()
    peer._source.close()


@pytest.fixture(params=["a submission", "students' own tests"])
def both(request) -> Callable[[str], list[Callable]]:
    """The function or class of TEXTS in this process, and through the mirror of another one."""

    def make(name: str) -> list[Callable]:
        if request.param == "students' own tests":
            return [here(name), request.getfixturevalue("peer").implementation(name)]
        module = name.partition(".")[0]
        submission = request.getfixturevalue("sandbox")({module: TEXTS[name]})
        use = submission.build if name == CLASS else submission.call
        return [here(name), partial(use, f"{module}.implementation")]

    return make
