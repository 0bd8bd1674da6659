"""Fixtures of the sandbox's tests: one zygote for all of them, and submissions of text or of a folder."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.sandbox.layers import choose_containment
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.zygote import Zygote, packages_for
from foundation.assignment_file import read_assignment

ASSIGNMENT = read_assignment()
EXAMPLE = Path(__file__).with_name("trial_submission")


def read(folder: Path) -> dict[str, tuple[str, str]]:
    """The modules of a folder, as a sandbox takes them."""
    sources = {path.stem: (path.name, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.py"))}
    return {"__init__": ("__init__.py", ""), **sources}


@pytest.fixture(scope="session")
def bare_zygote() -> Iterator[Zygote]:
    """As on a machine without bubblewrap."""
    bare = choose_containment("auto", packages_for(ASSIGNMENT), use_namespaces=False)
    with Zygote(ASSIGNMENT, containment=bare) as started:
        yield started


@pytest.fixture(scope="session")
def example_sources() -> dict[str, tuple[str, str]]:
    return read(EXAMPLE)


@pytest.fixture
def sandbox(zygote: Zygote, example_sources: dict) -> Iterator[Callable[..., Sandbox]]:
    """Makes sandboxes: `sandbox(limit=...)` of the example, `sandbox({"layers": text})` of other modules."""
    made = []

    def make(texts: dict[str, str] | None = None, *, without: tuple[str, ...] = (), **limits: float) -> Sandbox:
        sources = {**example_sources, **{name: (f"{name}.py", text) for name, text in (texts or {}).items()}}
        sources = {name: source for name, source in sources.items() if name not in without}
        assignment = replace(ASSIGNMENT, limits=replace(ASSIGNMENT.limits, **limits))
        made.append(Sandbox(sources, assignment, zygote=zygote))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture(scope="session")
def example(zygote: Zygote, example_sources: dict) -> Iterator[Sandbox]:
    """One sandbox with the example for all tests that leave it as it is."""
    with Sandbox(example_sources, ASSIGNMENT, zygote=zygote) as submission:
        yield submission
