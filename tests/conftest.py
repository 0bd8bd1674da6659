"""For all of the kit's own tests."""

import os
from collections.abc import Iterator

import pytest

# Before torch is imported: two threads on a busy machine run ten times slower than one.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


@pytest.fixture(scope="session")
def zygote() -> Iterator[object]:
    """One for all tests: a worker is forked from it for each submission."""
    from autograder.sandbox import Zygote

    with Zygote() as started:
        yield started
