"""The one exception of scoring."""


class ScoringError(ValueError):
    """Input that cannot be scored; the message is one line: what is wrong, where, and what would be right."""
