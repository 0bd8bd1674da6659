"""The stub of a grader that classes are graded with."""

from ..classroom.conftest import _with_fixed_secret, folder, log, output, typed, use  # noqa: F401
