"""Which nouns a word goes with, as the tables write it."""

from __future__ import annotations

from .entries import Noun, Selection, WordClass
from .tables import Row


class SelectionReader:
    """Turns `person,text=lettre` into a `Selection`, and checks that each part exists."""

    def __init__(self, classes: dict[str, WordClass], groups: dict[str, tuple[str, ...]], nouns: tuple[Noun, ...]):
        self.classes = classes
        self.groups = groups
        self.by_lemma: dict[str, set[str]] = {}
        for noun in nouns:
            self.by_lemma.setdefault(noun.lemma, set()).add(noun.class_name)

    def read(self, row: Row, text: str) -> Selection:
        """The selection that `text` means; an empty text admits nothing."""
        number = gender = ""
        names: set[str] = set()
        nouns: set[tuple[str, str]] = set()
        for part in filter(None, text.split(",")):
            if part[:3] in ("pl:", "sg:"):
                number, part = part[:2], part[3:]
            if part[-2:] in (":m", ":f"):
                gender, part = part[-1], part[:-2]
            class_name, equals, lemma = part.partition("=")
            if equals:
                nouns |= self._nouns(row, class_name, lemma)
            elif part in self.groups:
                names |= set(self.groups[part])
            elif part in self.classes:
                names.add(part)
            else:
                raise row.error(f"{part!r} is no class or group of classes.toml; a single noun is written '=noun'")
        return Selection(frozenset(names), frozenset(nouns), gender, number)

    def _nouns(self, row: Row, class_name: str, lemma: str) -> set[tuple[str, str]]:
        known = self.by_lemma.get(lemma, set())
        if class_name and class_name not in known:
            where = f"it stands in: {', '.join(sorted(known))}" if known else "it stands in no noun table"
            raise row.error(f"there is no noun {lemma!r} of class {class_name!r}; {where}")
        if not known:
            raise row.error(f"there is no noun {lemma!r} in the noun tables")
        return {(class_name, lemma)} if class_name else {(name, lemma) for name in known}
