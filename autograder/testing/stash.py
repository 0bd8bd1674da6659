"""What grading hands to the tests through pytest's stash."""

import pytest

SUBMISSION = pytest.StashKey[object]()
"""The submission that is judged, with the methods of `in_process.InProcessSubmission`."""

SEED = pytest.StashKey[int]()
"""The seed of all random inputs."""
