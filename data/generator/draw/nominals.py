"""Drawing subjects, objects and other nominals: which noun or name, and what goes with it."""

from __future__ import annotations

from collections.abc import Callable

from ..entries import Noun, ProperName, Selection
from ..meaning import Agreement, Indefinite, Name, Nominal, NounPhrase, Pair, Relative
from .chance import Context, Tools, pronoun
from .modifiers import Adjectives, Determiners, Surroundings

PERSON_CLASSES = frozenset(("human", "job", "kin", "friend"))
OWNERS = Selection(frozenset(("kin", "friend", "job")))
ROOMS = Selection(frozenset(("building", "room")))
OWNED_THINGS = frozenset(
    ("clothing", "jewel", "vehicle", "furniture", "container", "tool", "device", "toy", "building", "room", "pet",
     "kin", "body", "money", "instrument")
)  # fmt: skip
MEASURED = ("drink", "food", "ingredient", "fruit", "sweet", "dish")
INDEFINITES = {("quelqu'un", "someone"): 4, ("tout le monde", "everyone"): 5, ("personne", "nobody"): 3}


class Nominals:
    """Draws nominals. `relative` draws a relative clause for a noun phrase (set by the sentence drawer)."""

    def __init__(self, tools: Tools, adjectives: Adjectives):
        self.tools = tools
        self.chance = tools.chance
        self.adjectives = adjectives
        self.determiners = Determiners(tools)
        self.relative: Callable[[NounPhrase, Context], Relative | None] = lambda phrase, context: None
        self._pools: dict[Selection, tuple[tuple[Noun, ...], list[float]]] = {}
        self._names = {
            gender: tuple(name for name in tools.lexicon.first_names if gender in ("", name.gender))
            for gender in ("", "m", "f")
        }
        self._places: dict[str, tuple[ProperName, ...]] = {
            kind: tuple(place for place in tools.lexicon.places if place.class_name == kind)
            for kind in ("city", "country")
        }
        self._measures = [noun for noun in tools.lexicon.nouns if noun.measures]

    # -- nouns and names --------------------------------------------------------------------------------

    def noun(self, selection: Selection, context: Context) -> Noun | None:
        """A noun that the selection admits and that was not said yet."""
        nouns, sums = self._pool(selection)
        for _ in range(4 if nouns else 0):
            noun = self.chance.by_sums(nouns, sums)
            if noun.lemma not in context.said:
                context.said.add(noun.lemma)
                return noun
        return None

    def _pool(self, selection: Selection) -> tuple[tuple[Noun, ...], list[float]]:
        if selection not in self._pools:
            nouns = self.tools.lexicon.nouns_for(selection)
            self._pools[selection] = nouns, self.chance.cumulative(nouns, "noun")
        return self._pools[selection]

    def name(self, gender: str = "") -> Name:
        """A first name."""
        entry = self.chance.by_order(self._names[gender], "name")
        return Name(entry, Agreement(3, "sg", entry.gender))

    def place_name(self, kind: str) -> Name:
        """A city or country."""
        entry = self.chance.by_order(self._places[kind], "name")
        return Name(entry, Agreement(3, "pl" if entry.is_plural else "sg", entry.gender))

    # -- subjects ---------------------------------------------------------------------------------------

    def subject(self, selection: Selection, context: Context, only: tuple[str, ...] = ()) -> Nominal | None:
        """A subject that a verb or adjective admits; `only` restricts to these kinds of `[subject]`."""
        kind = self.chance.weighted(self._subject_weights(selection, context, only))
        if kind == "vous" and selection.number == "pl" and context.address != "vous":
            return None
        if kind == "noun":
            return self._subject_phrase(selection, context)
        if kind == "name":
            return self.name(selection.gender)
        if kind == "pair":
            return self._pair()
        if kind == "someone":
            return Indefinite(*self.chance.weighted(INDEFINITES))
        return pronoun(kind, context)

    def _subject_weights(self, selection: Selection, context: Context, only: tuple[str, ...]) -> dict[str, float]:
        weights = self.tools.settings.subject
        if "human" not in selection.classes:
            # il, elle stand for persons: a thing is named, and the pronoun it only looks back
            return {"noun": 1.0}
        plural = ("nous", "vous", "ils", "elles", "pair", "noun")
        return {
            name: weight
            for name, weight in weights.items()
            if (not only or name in only)
            and (selection.number != "pl" or name in plural)
            and (not selection.gender or self._fits(name, selection.gender, context))
        }

    @staticmethod
    def _fits(kind: str, gender: str, context: Context) -> bool:
        genders = {
            "je": context.speaker, "nous": context.speaker, "tu": context.hearer, "vous": context.hearer,
            "il": "m", "ils": "m", "elle": "f", "elles": "f", "on": "m", "pair": "m", "someone": "m",
        }  # fmt: skip
        return genders.get(kind, gender) == gender

    def _pair(self) -> Pair:
        first, second = self.name(), self.name()
        while second.entry == first.entry:
            second = self.name()
        genders = {first.entry.gender, second.entry.gender}
        return Pair(first, second, Agreement(3, "pl", "f" if genders == {"f"} else "m"))

    def _subject_phrase(self, selection: Selection, context: Context) -> NounPhrase | None:
        noun = self.noun(selection, context)
        if noun is None:
            return None
        phrase = self.phrase(noun, self.determiners.number(noun, selection.number))
        self.determiners.of_subject(phrase, context)
        return self._finish(phrase, context, Surroundings())

    # -- objects ----------------------------------------------------------------------------------------

    def object(self, selection: Selection, context: Context, around: Surroundings) -> Nominal | None:
        """A nominal after a verb: a noun phrase, or for persons a name, for places a city or country."""
        kinds: dict[str, float] = {}
        if self._pool(selection)[0]:
            kinds["noun"] = 10.0
        for kind in ("city", "country"):
            if kind in selection.classes:
                kinds[kind] = 4.0
        if selection.classes >= PERSON_CLASSES and not around.options & {"generic", "bare"}:
            kinds["name"] = 4.0
        if not kinds:
            return None
        kind = self.chance.weighted(kinds)
        if kind == "name":
            return self.name(selection.gender)
        if kind in ("city", "country"):
            return self.place_name(kind)
        return self.object_phrase(selection, context, around)

    def object_phrase(self, selection: Selection, context: Context, around: Surroundings) -> NounPhrase | None:
        """A noun phrase after a verb."""
        noun = self.noun(selection, context)
        if noun is None:
            return None
        if "indefinite" in around.options and (noun.is_singular_only or noun.owning == "public"):
            return None  # one does not say that somebody has a father or a subway
        measured = self._measured(noun, around)
        if measured is not None:
            return measured
        phrase = self.phrase(noun, self.determiners.number(noun, selection.number))
        self.determiners.of_object(phrase, context, around)
        return self._finish(phrase, context, around)

    def phrase(self, noun: Noun, number: str, determiner: str = "the") -> NounPhrase:
        """A bare noun phrase with one of the noun's English words."""
        return NounPhrase(noun, self.chance.synonym(noun.english), number, determiner)

    # -- parts ------------------------------------------------------------------------------------------

    def _measured(self, noun: Noun, around: Surroundings) -> NounPhrase | None:
        """*une tasse de café* in the place of *du café*."""
        if noun.class_name not in MEASURED or around.is_negated_object:
            return None
        if around.options & {"generic", "definite", "bare", "whole"} or not self.tools.share("measure"):
            return None
        fitting = [measure for measure in self._measures if noun.lemma in measure.measures]
        if not fitting:
            return None
        measure = self.chance.by_order(fitting, "noun")
        count = self.chance.weighted({1: 70, 2: 20, 3: 10})
        phrase = self.phrase(measure, "sg" if count == 1 else "pl", "a" if count == 1 else "number")
        phrase.count = count
        is_cut = noun.is_mass or measure.lemma in ("morceau", "tranche")
        number = "sg" if is_cut and not noun.is_plural_only else "pl"
        phrase.content = NounPhrase(noun, noun.english[0], number, "bare")
        return phrase

    def _finish(self, phrase: NounPhrase, context: Context, around: Surroundings) -> NounPhrase:
        """Complement, adjectives, relative clause; relatives always belong to somebody."""
        is_kin = phrase.noun.class_name == "kin" and phrase.determiner == "the"
        if is_kin:
            phrase.number = "sg"
            phrase.complement = self.name() if self.chance.happens(0.6) else self._simple(OWNERS, context)
            if phrase.complement is None:
                phrase.complement = self.name()
        if around.is_plain or is_kin or phrase.determiner in ("generic", "bare"):
            return phrase
        if phrase.determiner == "the" and context.can_relate and self.tools.share("complement"):
            phrase.complement = self._possessor(phrase.noun, context)
        self.adjectives.decorate(phrase)
        can_relate = context.can_relate and phrase.determiner in ("the", "a", "some") and not phrase.complement
        if can_relate and not phrase.modifiers and self.tools.share("relative"):
            phrase.relative = self.relative(phrase, context)
        return phrase

    def _possessor(self, noun: Noun, context: Context) -> Nominal | None:
        """Whose a thing is (*de paul, de mon frère*), or what it is part of (*de la maison*)."""
        if noun.class_name == "part":
            return self._simple(ROOMS, context)
        is_owned = noun.class_name in OWNED_THINGS and noun.owning != "public"
        if not is_owned or (noun.class_name == "building" and noun.owning != "owned"):
            return None
        return self.name() if self.chance.happens(0.5) else self._simple(OWNERS, context)

    def _simple(self, selection: Selection, context: Context) -> NounPhrase | None:
        noun = self.noun(selection, context)
        if noun is None or noun.is_plural_only:
            return None
        phrase = self.phrase(noun, "sg")
        if noun.class_name == "kin" or self.chance.happens(self.determiners.owned_share(noun)):
            phrase.determiner, phrase.owner = "my", self.determiners.first_or_second(context)
        return phrase
