"""Fixtures of the sandbox's tests: one zygote for all of them; submissions of the reference's modules and of text."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from autograder.running.in_process import InProcessSubmission
from autograder.sandbox import layers
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.zygote import Zygote
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE

from ..conftest import examples_in

ASSIGNMENT = read_assignment()
FROM_REFERENCE = ("attention", "embedding", "layers", "masks", "model")


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
    texts |= {"__init__": "", "decode": examples_in("sandbox/session.toml")["calls"]["decode"]}
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

    def both(texts: dict[str, str]) -> list[Sandbox | InProcessSubmission]:
        sources = {**example_sources, **{name: (f"{name}.py", text) for name, text in texts.items()}}
        opened.append(InProcessSubmission(sources, ASSIGNMENT))
        return [sandbox(texts), opened[-1]]

    opened: list[InProcessSubmission] = []
    yield both
    for submission in opened:
        submission.close()


@pytest.fixture(scope="session")
def example(zygote: Zygote, example_sources: dict) -> Iterator[Sandbox]:
    """One sandbox with the example for all tests that leave it as it is."""
    with Sandbox(example_sources, ASSIGNMENT, zygote=zygote) as submission:
        yield submission
