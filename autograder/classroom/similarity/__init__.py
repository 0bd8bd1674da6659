"""Similar submissions of a class: findings for a person, who decides what they mean. No mark depends on them.

    written = read_class(entries, release, assignment)
    findings = find_matches({entry.key: one for entry, one in written.items()})

    answers.py       what a student wrote, without what was handed out
    one_form.py      code that does the same in other words, brought into one form
    tokens.py        code as tokens without the names that its author chose
    fingerprints.py  winnowing
    reading.py       from submissions to fingerprints, each in a child
    chance.py        how often chance alone would bring as much
    matches.py       pairs and places
    groups.py        what pairs connect
    translations.py  files of translations: the references, or another student's
    translating_again.py  does a checkpoint give the translations that were handed in? In the sandbox
    translating_class.py  the same for a class

Submissions are parsed within the limits of `intake`; but for the last two, nothing of them is imported or run.
"""

from .matches import BY_CHANCE, Findings, Match, Pair, Place, find_matches
from .reading import Written, read_class
from .translations import HIGHEST_BLEU

__all__ = ["BY_CHANCE", "HIGHEST_BLEU", "Findings", "Match", "Pair", "Place", "Written", "find_matches", "read_class"]
