"""How French words meet: contraction (*de le -> du*), elision (*je ai -> j ai*) and the plain spelling.

The corpus has no accents, capitals, apostrophes or hyphens: an elided word is a token of its own.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace

from ..meaning.tokens import Word

CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def plain(text: str) -> str:
    """Lower case without accents; apostrophes and hyphens become spaces."""
    text = text.lower().replace("œ", "oe").replace("'", " ").replace("-", " ")
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def starts_with_vowel(word: Word) -> bool:
    """Whether the word starts with a vowel sound: not *onze, oui, huit*, nor an aspirated h."""
    first = plain(word.text)[:1]
    return not word.is_aspirated and first in "aeiouhy" and word.text not in ("onze", "oui", "huit")


def join(words: list[Word]) -> list[Word]:
    """Contracts and elides; each word of the result is one token in the corpus's spelling."""
    contracted: list[Word] = []
    for position, current in enumerate(words):
        before = contracted[-1] if contracted else None
        if before is not None and before.role == "preposition" and current.role == "article":
            follower = words[position + 1] if position + 1 < len(words) else None
            elides = current.text == "le" and follower is not None and starts_with_vowel(follower)
            if (before.text, current.text) in CONTRACTIONS and not elides:
                contracted[-1] = before.joined(current, CONTRACTIONS[before.text, current.text])
                continue
        contracted.append(current)
    tokens: list[Word] = []
    for position, current in enumerate(contracted):
        follower = contracted[position + 1] if position + 1 < len(contracted) else None
        text = current.text
        if current.before_vowel and follower is not None and starts_with_vowel(follower):
            text = current.before_vowel
        if text == "si" and follower is not None and follower.text in ("il", "ils"):
            text = "s"
        tokens.extend(replace(current, text=token) for token in plain(text).split())
    return tokens
