"""What is raised for a class that cannot be graded."""


class ClassError(ValueError):
    """A folder that cannot be graded as a class; the message says why."""
