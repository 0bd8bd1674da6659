"""What grading hands to the tests through pytest's stash."""

import pytest

from .under_test import SubmissionUnderTest

SUBMISSION = pytest.StashKey[SubmissionUnderTest]()
"""The submission that is judged."""

SEED = pytest.StashKey[int]()
"""The seed of all random inputs."""
