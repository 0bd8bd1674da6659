"""For all of the kit's own tests."""

import gc
import os
import signal
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import release  # noqa: F401  first, because it makes the import of jsonschema quick
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE

collect_ignore = ["example"]  # an assignment of its own, whose tests judge submissions

# Before torch is imported: two threads on a busy machine run ten times slower than one.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in a shell's job in the background: nothing could be stopped
    signal.signal(signal.SIGINT, signal.default_int_handler)

_examples = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
settings.register_profile("few", _examples, max_examples=30)
settings.register_profile("many", _examples, max_examples=500)


def examples_in(file: str) -> dict:
    """The examples in a file of this folder, which explains them; in it, {title} is that of the assignment."""
    text = Path(__file__).parent.joinpath(file).read_text(encoding="utf-8")
    return tomllib.loads(text.replace("{title}", read_assignment().title))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole", action="store_true", help="tests that take a sample try all cases")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("many" if config.getoption("whole") else "few")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """A folder's tests share what they make once, such as a graded class: one process has them all."""
    from xdist.scheduler import LoadFileScheduling

    class ByFolder(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid.partition("::")[0].rpartition("/")[0]

    return ByFolder(config, log)


def pytest_collection_finish() -> None:
    """What has been imported stays: the garbage collector need not look at it again, nor copy it in each fork."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _without_waiting_for_the_disk() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session")
def zygote() -> Iterator[object]:
    """One for all tests: a worker is forked from it for each submission."""
    from autograder.sandbox.zygote import Zygote

    with Zygote(read_assignment()) as started:
        yield started


@pytest.fixture(scope="session")
def sampled(request: pytest.FixtureRequest) -> Callable[[Iterable[object], int], list[object]]:
    """Every n-th of some cases, others every day; all of them with `--whole`."""

    def choose(cases: Iterable[object], n: int) -> list[object]:
        return [*cases] if request.config.getoption("whole") else [*cases][int(time.time() / 86_400) % n :: n]

    return choose


@pytest.fixture(scope="session")
def assignment():
    return read_assignment()


@pytest.fixture(scope="session")
def reference():
    from autograder.intake.sources import read_sources

    return read_sources(REFERENCE, REFERENCE)


@pytest.fixture(scope="session")
def fixed_secret() -> Iterator[None]:
    """Commands that run in this process take their seeds from this, not from the checkout's own secret."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.grading.provenance.term_secret", lambda root: b"the secret of the kit's own tests")
        yield
