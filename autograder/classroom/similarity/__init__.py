"""Similar submissions of a class: findings for a person, who decides what they mean. No mark depends on them.

    written = read_class(entries, release, assignment)
    findings = find_matches({entry.key: one for entry, one in written.items()})

    statements.py  a module as statements, each without the names that its author chose
    reading.py     what each student wrote, without what was handed out, and what their translations have wrong
    matches.py     the share that two submissions have in common, pairs and places

Submissions are parsed within the limits of `intake`; nothing of them is imported or run.
"""

from .matches import Findings, Pair, Place, find_matches
from .reading import Written, read_class

__all__ = ["Findings", "Pair", "Place", "Written", "find_matches", "read_class"]
