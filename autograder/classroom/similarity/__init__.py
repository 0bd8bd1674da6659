"""Similar submissions of a class: findings for a person, who decides what they mean. No mark depends on them.

    written = read_class(entries, release, assignment)
    findings = find_matches({entry.key: one for entry, one in written.items()})

    reading.py       from submissions to what each student wrote, without what was handed out, in children
    one_form.py      code that does the same in other words leaves the same fingerprints
    chance.py        how often chance alone would bring as much
    matches.py       pairs, groups and places
    translations.py  files of translations: the references, or another student's
    translating_again.py  does a checkpoint give the translations that were handed in? In the sandbox

Submissions are parsed within the limits of `intake`; but for the last one, nothing of them is imported or run.
"""

from .matches import BY_CHANCE, Findings, Match, Pair, Place, find_matches
from .reading import Written, read_class
from .translations import HIGHEST_BLEU

__all__ = ["BY_CHANCE", "HIGHEST_BLEU", "Findings", "Match", "Pair", "Place", "Written", "find_matches", "read_class"]
