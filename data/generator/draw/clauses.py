"""Drawing plain verb clauses: frame, verb, a subject that it admits, tense, negation, complements, time."""

from __future__ import annotations

from functools import cache

from ..entries import Selection, Verb
from ..meaning import (
    Agreement,
    Clause,
    Indefinite,
    Nominal,
    NounPhrase,
    Pronoun,
    french_subject_agreement,
)
from ..tables import Lexicon
from .adjuncts import EVERYONE, add_adjunct, add_time, draw_place, draw_tense, other_person, same
from .chance import Draw
from .modifiers import Surroundings
from .nominals import object_
from .nominals import subject as draw_subject

# lui would be him or her alike, so it is not used where nothing else decides
DATIVES = ("je", "tu", "nous", "vous", "ils")
INFINITIVE_TENSES = {"to": "to_infinitive", "ing": "gerund", "bare": "infinitive"}
PLAIN_FRAMES = ("intransitive", "expression", "transitive", "oblique", "dative", "locative")
NOTHING = {"rien": ("rien", "anything"), "personne": ("personne", "anyone")}
NEGATIONS = {"pas": 74.0, "plus": 9.0, "jamais": 9.0, "rien": 6.0, "personne": 4.0, "que": 5.0, "encore": 4.0}
NEVER_NEGATED = ("used_to", "just", "in_progress", "since", "since_progressive")


def draw_clause(
    draw: Draw,
    subject: Pronoun | None = None,
    tense: str = "",
    can_negate: bool = True,
    frame: str = "",
    subjects: tuple[str, ...] = (),
) -> Clause | None:
    """A clause; whatever is given (subject, tense, frame) is kept. None where nothing fits."""
    verb = draw_verb(draw, frame or draw_frame(draw), subject)
    if verb is None:
        return None
    doer = subject or draw_subject(draw, verb.subject, subjects)
    if doer is None or ("third" in verb.options and doer.agreement.person != 3):
        return None
    clause = Clause(doer, verb, draw.synonym(verb.english), tense or draw_tense(draw, verb))
    if can_negate and clause.tense not in NEVER_NEGATED:
        _negate(draw, clause)
    if not complete(draw, clause):
        return None
    add_time(draw, clause)
    return clause


def draw_frame(draw: Draw, *without: str) -> str:
    """A frame of a plain clause."""
    return draw.weighted({name: weight for name, weight in draw.settings.frame.items() if name not in without})


def draw_verb(draw: Draw, frame: str, subject: Pronoun | None = None, is_voluntary: bool = False) -> Verb | None:
    """A verb of a frame; one whose subject may be the pronoun `subject`, and that one may want or decide to do."""
    verbs = _wanted(draw.lexicon, frame) if is_voluntary else draw.lexicon.verbs[frame]
    if isinstance(subject, Pronoun):
        numbers = ("", subject.agreement.number)
        verbs = tuple(v for v in verbs if "human" in v.subject.classes and v.subject.number in numbers)
    return draw.by_order(verbs, "verb") if verbs else None


@cache
def _wanted(lexicon: Lexicon, frame: str) -> tuple[Verb, ...]:
    """The verbs of a frame that a person may want, decide or be asked to do."""
    return tuple(
        verb
        for verb in lexicon.verbs[frame]
        if "human" in verb.subject.classes
        and verb.subject.number != "pl"
        and (verb.aspect != "state" or frame == "locative")
        and "involuntary" not in verb.options
    )


@cache
def _skills(lexicon: Lexicon) -> tuple[Verb, ...]:
    frames = ("intransitive", "oblique", "transitive")
    return tuple(verb for frame in frames for verb in _wanted(lexicon, frame) if "learnt" in verb.options)


def _negate(draw: Draw, clause: Clause) -> None:
    """Sometimes negates the clause, in a way that fits its tense and object."""
    if is_quantified(clause.subject) or not draw.share("negation"):
        return
    clause.negation = draw.weighted(_negations(draw, clause))
    if clause.negation in ("jamais", "plus") and clause.tense == "progressive":
        clause.tense = "present"
    if clause.negation in ("pas", "rien", "personne", "que") and clause.tense == "present":
        clause.tense = "present" if clause.verb.aspect == "state" else "progressive"
    if clause.negation in ("jamais", "encore") and clause.tense == "past":
        clause.tense = "perfect"


def _negations(draw: Draw, clause: Clause) -> dict[str, float]:
    verb, tense, classes = clause.verb, clause.tense, clause.verb.object.classes
    if tense == "perfect":
        return {"jamais": 2.0, "encore": 3.0}
    allowed = {"pas"}
    if tense in ("present", "progressive", "past", "future"):
        allowed.add("jamais")
    if verb.aspect != "point" and tense in ("present", "progressive") and verb.frame != "swap":
        allowed.add("plus")
    if tense == "past":
        allowed.add("encore")
    if verb.frame == "transitive" and "generic" not in verb.options and verb.aspect != "state":
        if classes:
            allowed.add("personne" if "human" in classes else "rien")
        if classes & draw.group("consumed").classes:
            allowed.add("que")
    return {name: weight for name, weight in NEGATIONS.items() if name in allowed}


def is_quantified(subject: Nominal | None) -> bool:
    """True if a negation would be ambiguous with this subject: *tous les enfants ne dorment pas*."""
    if isinstance(subject, NounPhrase):
        return subject.determiner in ("every", "all", "many", "several", "number", "a")
    return isinstance(subject, Indefinite)


# -- complements ----------------------------------------------------------------------------------------


def complete(draw: Draw, clause: Clause) -> bool:
    """Gives the clause the complements of its frame and perhaps an adjunct; false where none is found."""
    fill = COMPLEMENTS.get(clause.verb.frame)
    if fill is not None and not fill(draw, clause):
        return False
    add_adjunct(draw, clause)
    return True


def _around(clause: Clause, is_plain: bool = False) -> Surroundings:
    is_act = clause.verb.aspect != "state" or clause.verb.french in ("avoir", "voir", "entendre")
    is_negated = is_act and clause.negation in ("pas", "plus", "jamais", "encore")
    return Surroundings(clause.subject, clause.tense, is_negated, clause.verb.options, is_plain)


def _is_other(nominal: Nominal | None, clause: Clause) -> bool:
    return nominal is not None and not same(nominal, clause.subject)


def _object(draw: Draw, clause: Clause) -> bool:
    verb = clause.verb
    if clause.negation in NOTHING:
        clause.object = Indefinite(NOTHING[clause.negation])
        return True
    if clause.negation != "que" and "generic" not in verb.options and draw.share("object_pronoun"):
        clause.object = _pronoun(draw, clause)
    if clause.object is None:
        clause.object = object_(draw, verb.object, _around(clause))
    return _is_other(clause.object, clause)


def _pronoun(draw: Draw, clause: Clause) -> Pronoun | None:
    """*me, te, le ...*: a person where the verb's objects can be persons, else a thing."""
    selection = clause.verb.object
    if selection.number == "sg" or "named" in clause.verb.options:
        return None
    if "human" in selection.classes:
        return other_person(draw, clause.subject)
    if not _can_point(draw, selection):
        return None
    number, gender = draw.weighted({("sg", "m"): 5, ("sg", "f"): 5, ("pl", "m"): 4})
    return Pronoun(Agreement(3, number, gender), "thing")


def _can_point(draw: Draw, selection: Selection) -> bool:
    return draw.can_point and not selection.only_classes & draw.group("never_pronoun").classes


def _oblique(draw: Draw, clause: Clause) -> bool:
    verb, selection = clause.verb, clause.verb.object
    if "bare" not in verb.options and draw.share("object_pronoun"):
        if "human" in selection.classes:
            clause.oblique = other_person(draw, clause.subject, DATIVES if "dative" in verb.options else EVERYONE)
        elif verb.options & {"y", "en"} and _can_point(draw, selection):
            clause.oblique = Pronoun(Agreement(3, "sg", "m"), "thing")
    if clause.oblique is None:
        definite = {"definite"} if clause.negation else set()  # neither *some* nor *a few* after *not*
        around = Surroundings(clause.subject, clause.tense, options=verb.options | definite)
        clause.oblique = object_(draw, selection, around)
    return _is_other(clause.oblique, clause)


def _recipient(draw: Draw, clause: Clause, names: tuple[str, ...]) -> bool:
    selection = draw.group("person") if clause.verb.frame == "control" else clause.verb.recipient
    if "human" in selection.classes and draw.happens(0.55):
        clause.recipient = other_person(draw, clause.subject, names)
    if clause.recipient is None:
        clause.recipient = object_(draw, selection, Surroundings(clause.subject, clause.tense, is_plain=True))
    return _is_other(clause.recipient, clause)


def _dative(draw: Draw, clause: Clause) -> bool:
    if not _recipient(draw, clause, DATIVES):
        return False
    is_pronoun = isinstance(clause.recipient, Pronoun)
    is_third = isinstance(clause.recipient, Pronoun) and clause.recipient.agreement.person == 3
    if not is_third and draw.share("object_pronoun"):
        clause.object = _pronoun(draw, clause)
    if clause.object is None:
        clause.object = object_(draw, clause.verb.object, _around(clause, is_plain=not is_pronoun))
    return clause.object is not None


def _control(draw: Draw, clause: Clause) -> bool:
    names = EVERYONE if "accusative" in clause.verb.options else DATIVES
    if not _recipient(draw, clause, names):
        return False
    assert clause.recipient is not None
    draw.can_own = False
    clause.infinitive = draw_infinitive(draw, clause.verb, clause.recipient)
    return clause.infinitive is not None and not _refers_to(clause.infinitive, clause.subject)


def _locative(draw: Draw, clause: Clause) -> bool:
    clause.place = draw_place(draw, clause.verb.object, clause)
    return clause.place is not None


def _swap(draw: Draw, clause: Clause) -> bool:
    clause.object = other_person(draw, clause.subject, DATIVES)
    return clause.object is not None


COMPLEMENTS = {
    "transitive": _object, "oblique": _oblique, "dative": _dative, "control": _control, "locative": _locative,
    "swap": _swap,
}  # fmt: skip


def draw_infinitive(draw: Draw, outer: Verb, controller: Nominal, link: tuple[str, str] | None = None) -> Clause | None:
    """The infinitive that depends on a verb; `controller` is who would do it, `link` its prepositions if not usual."""
    if "skill" in outer.options:
        verb = draw.by_order(_skills(draw.lexicon), "verb")
    else:
        is_purpose = outer.french == "venir"  # come to do something: not to go on to another place
        allowed = ("transitive", "dative") if is_purpose else PLAIN_FRAMES
        frame = draw.weighted({name: draw.settings.frame[name] for name in allowed})
        verb = draw.by_order(_wanted(draw.lexicon, frame), "verb")
    if verb.french == outer.french:
        return None
    english, _, form = draw.synonym(outer.prep[1].split("|")).rpartition("_")
    inner = Clause(controller, verb, draw.synonym(verb.english), INFINITIVE_TENSES[form])
    if not complete(draw, inner):
        return None
    inner.subject, inner.controller = None, french_subject_agreement(controller)
    inner.link = link or (outer.prep[0], "to" if form == "to" else english)
    return inner


def _refers_to(clause: Clause, subject: Nominal | None) -> bool:
    """True if a pronoun in the clause means the first or second person that `subject` means."""
    person = 3 if subject is None else french_subject_agreement(subject).person
    pronouns = (clause.object, clause.recipient, clause.oblique)
    return any(isinstance(p, Pronoun) and p.agreement.person == person != 3 for p in pronouns)
