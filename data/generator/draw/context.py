"""What holds for a whole sentence: who speaks to whom, and which nouns have been used."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..meaning.nodes import Agreement, Pronoun
from ..settings import Settings
from ..words.lexicon import Lexicon
from .chance import Chance


@dataclass
class Context:
    """Speaker and hearer of one sentence. `address`: tu, formal (*vous* to one) or vous (to several)."""

    speaker: str
    hearer: str
    address: str
    said: set[str] = field(default_factory=set)
    can_relate: bool = True  # relative clauses and complements of nouns
    can_point: bool = True  # pronouns for things that were not said
    can_own: bool = True  # a third person as owner: false where son could be one of two persons'

    def hearer_agreement(self) -> Agreement:
        """Person and number in which the hearer is addressed."""
        return Agreement(2, "pl" if self.address == "vous" else "sg", self.hearer)

    def owner(self, person: int, number: str = "sg") -> Agreement:
        """First or second person as owner: *mon, notre, ton, votre*."""
        if person == 1:
            return Agreement(1, number, self.speaker)
        return Agreement(2, "sg" if self.address == "tu" else "pl", self.hearer)


@dataclass(frozen=True)
class Tools:
    """What every drawing module needs."""

    lexicon: Lexicon
    settings: Settings
    chance: Chance

    def share(self, name: str) -> bool:
        """Whether something of `[phrase]` in the settings happens now."""
        return self.chance.happens(self.settings.phrase[name])


def new_context(chance: Chance, settings: Settings) -> Context:
    """A speaker and a hearer, who is *tu* or *vous* in all of the sentence."""
    tu, vous = settings.subject["tu"], settings.subject["vous"]
    return Context(
        speaker=chance.pick("mf"),
        hearer=chance.pick("mf"),
        address=chance.weighted({"tu": tu, "formal": 0.6 * vous, "vous": 0.4 * vous}),
    )


def pronoun(name: str, context: Context) -> Pronoun:
    """A subject pronoun by its French name; *tu* and *vous* both address the hearer."""
    fixed = {
        "je": Agreement(1, "sg", context.speaker),
        "nous": Agreement(1, "pl", context.speaker),
        "il": Agreement(3, "sg", "m"),
        "elle": Agreement(3, "sg", "f"),
        "ils": Agreement(3, "pl", "m"),
        "elles": Agreement(3, "pl", "f"),
        "on": Agreement(3, "sg", "m"),
    }
    if name in ("tu", "vous"):
        kind = "formal" if context.address == "formal" else "personal"
        return Pronoun(context.hearer_agreement(), kind)
    return Pronoun(fixed[name], "on" if name == "on" else "personal")


def impersonal() -> Pronoun:
    """*il* of *il pleut*."""
    return Pronoun(Agreement(3, "sg", "m"), "impersonal")
