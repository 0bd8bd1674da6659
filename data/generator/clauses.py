"""Drawing plain verb clauses: frame, verb, a subject that it admits, tense, negation, complements, time."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from .adjuncts import EVERYONE, add_adjunct, add_time, draw_place, draw_tense, other_person, same
from .chance import DeadEndError, Draw
from .entries import Lexicon, Selection, Texts, Verb
from .meaning import Agreement, Clause, Indefinite, Nominal, NounPhrase, Pronoun, french_agreement
from .nouns import Around, draw_object, draw_subject

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
    subjects: Collection[str] = (),
) -> Clause:
    """A clause; whatever is given (subject, tense, frame) is kept."""
    verb = draw_verb(draw, frame or draw_frame(draw), subject)
    doer = subject or draw_subject(draw, verb.subject, subjects)
    if verb.has("third") and doer.agreement.person != 3:
        raise DeadEndError
    clause = Clause(doer, verb, draw.synonym(verb.english), tense or draw_tense(draw, verb))
    if can_negate and clause.tense not in NEVER_NEGATED:
        _negate(draw, clause)
    complete(draw, clause)
    add_time(draw, clause)
    return clause


def draw_frame(draw: Draw, *without: str) -> str:
    """A frame of a plain clause."""
    return draw.weighted({name: weight for name, weight in draw.settings["frame"].items() if name not in without})


def draw_verb(draw: Draw, frame: str, subject: Pronoun | None = None, is_voluntary: bool = False) -> Verb:
    """A verb of a frame; one whose subject may be the pronoun `subject`, and that one may want or decide to do."""
    verbs = wanted(draw.lexicon, frame) if is_voluntary else draw.lexicon.verbs[frame]
    if subject is not None:
        numbers = ("", subject.agreement.number)
        verbs = tuple(v for v in verbs if "human" in v.subject.classes and v.subject.number in numbers)
    return draw.by_order(verbs, "verb")


@cache
def wanted(lexicon: Lexicon, *frames: str) -> tuple[Verb, ...]:
    """The verbs of frames that a person may want, decide or be asked to do."""
    return tuple(
        verb
        for frame in frames
        for verb in lexicon.verbs[frame]
        if "human" in verb.subject.classes
        and verb.subject.number != "pl"
        and (verb.aspect != "state" or frame == "locative")
        and not verb.has("involuntary")
    )


def _negate(draw: Draw, clause: Clause) -> None:
    """Sometimes negates the clause, in a way that fits its tense and object."""
    if is_quantified(clause.subject) or not draw.share("negation"):
        return
    verb, tense, classes = clause.verb, clause.tense, clause.verb.object.classes
    acts = verb.frame == "transitive" and not verb.has("generic") and verb.aspect != "state"
    is_present = tense in ("present", "progressive")
    allowed = {
        "pas": True,
        "plus": is_present and verb.aspect != "point" and verb.frame != "swap",
        "jamais": is_present or tense in ("past", "future"),
        "rien": acts and bool(classes) and "human" not in classes,
        "personne": acts and "human" in classes,
        "que": acts and bool(classes & draw.group("consumed").classes),
        "encore": tense == "past",
    }
    weights = {name: weight for name, weight in NEGATIONS.items() if allowed[name]}
    clause.negation = draw.weighted({"jamais": 2.0, "encore": 3.0} if tense == "perfect" else weights)
    if clause.negation in ("jamais", "plus") and tense == "progressive":
        clause.tense = "present"
    elif clause.negation in ("pas", "rien", "personne", "que") and tense == "present" and verb.aspect != "state":
        clause.tense = "progressive"
    elif clause.negation in ("jamais", "encore") and tense == "past":
        clause.tense = "perfect"


def is_quantified(subject: Nominal | None) -> bool:
    """True if a negation would be ambiguous with this subject: *tous les enfants ne dorment pas*."""
    if isinstance(subject, NounPhrase):
        return subject.determiner in ("every", "all", "many", "several", "number", "a")
    return isinstance(subject, Indefinite)


def complete(draw: Draw, clause: Clause) -> None:
    """Gives the clause the complements of its frame and perhaps an adjunct."""
    if clause.verb.frame == "locative":
        clause.place = draw_place(draw, clause.verb.object, clause)
    elif clause.verb.frame in COMPLEMENTS:
        COMPLEMENTS[clause.verb.frame](draw, clause)
    if any(same(nominal, clause.subject) for nominal in (clause.object, clause.oblique)):
        raise DeadEndError
    add_adjunct(draw, clause)


def _around(clause: Clause, is_plain: bool = False) -> Around:
    is_act = clause.verb.aspect != "state" or clause.verb.french in ("avoir", "voir", "entendre")
    is_negated = is_act and clause.negation in ("pas", "plus", "jamais", "encore")
    return Around(clause.subject, clause.tense, clause.verb.options, is_plain, is_negated)


def _object(draw: Draw, clause: Clause) -> None:
    if clause.negation in NOTHING:
        clause.object = Indefinite(NOTHING[clause.negation])
        return
    if clause.negation != "que" and not clause.verb.has("generic") and draw.share("object_pronoun"):
        clause.object = _pronoun(draw, clause)
    clause.object = clause.object or draw_object(draw, clause.verb.object, _around(clause))


def _pronoun(draw: Draw, clause: Clause) -> Pronoun | None:
    """*me, te, le ...*: a person where the verb's objects can be persons, else a thing."""
    selection = clause.verb.object
    if selection.number == "sg" or clause.verb.has("named"):
        return None
    if "human" in selection.classes:
        return other_person(draw, clause.subject)
    if not _can_point(draw, selection):
        return None
    number, gender = draw.weighted({("sg", "m"): 5, ("sg", "f"): 5, ("pl", "m"): 4})
    return Pronoun(Agreement(3, number, gender), "thing")


def _can_point(draw: Draw, selection: Selection) -> bool:
    classes = selection.classes.union(class_name for class_name, _ in selection.nouns)
    return draw.can_point and not classes & draw.group("never_pronoun").classes


def _oblique(draw: Draw, clause: Clause) -> None:
    verb, selection = clause.verb, clause.verb.object
    if not verb.has("bare") and draw.share("object_pronoun"):
        if "human" in selection.classes:
            clause.oblique = other_person(draw, clause.subject, DATIVES if verb.has("dative") else EVERYONE)
        elif verb.has("y", "en") and _can_point(draw, selection):
            clause.oblique = Pronoun(Agreement(3, "sg", "m"), "thing")
    if clause.oblique is None:
        definite = ["definite"] if clause.negation else []  # neither *some* nor *a few* after *not*
        around = Around(clause.subject, clause.tense, [*verb.options, *definite])
        clause.oblique = draw_object(draw, selection, around)


def _recipient(draw: Draw, clause: Clause, selection: Selection, names: Collection[str]) -> Nominal:
    recipient: Nominal | None = None
    if "human" in selection.classes and draw.happens(0.55):
        recipient = other_person(draw, clause.subject, names)
    recipient = recipient or draw_object(draw, selection, Around(clause.subject, clause.tense, is_plain=True))
    if same(recipient, clause.subject):
        raise DeadEndError
    return recipient


def _dative(draw: Draw, clause: Clause) -> None:
    clause.recipient = _recipient(draw, clause, clause.verb.recipient, DATIVES)
    is_pronoun = isinstance(clause.recipient, Pronoun)
    is_third = is_pronoun and clause.recipient.agreement.person == 3
    if not is_third and draw.share("object_pronoun"):
        clause.object = _pronoun(draw, clause)
    clause.object = clause.object or draw_object(draw, clause.verb.object, _around(clause, is_plain=not is_pronoun))


def _control(draw: Draw, clause: Clause) -> None:
    names = EVERYONE if clause.verb.has("accusative") else DATIVES
    clause.recipient = _recipient(draw, clause, draw.group("person"), names)
    draw.can_own = False
    clause.infinitive = inner = draw_infinitive(draw, clause.verb, clause.recipient)
    person = 3 if clause.subject is None else french_agreement(clause.subject).person
    pronouns = (inner.object, inner.recipient, inner.oblique)
    if any(isinstance(p, Pronoun) and p.agreement.person == person != 3 for p in pronouns):
        raise DeadEndError  # a pronoun that means the subject


def _swap(draw: Draw, clause: Clause) -> None:
    clause.object = other_person(draw, clause.subject, DATIVES)
    if clause.object is None:
        raise DeadEndError


COMPLEMENTS = {"transitive": _object, "oblique": _oblique, "dative": _dative, "control": _control, "swap": _swap}


def draw_infinitive(draw: Draw, outer: Verb, controller: Nominal, link: Texts | None = None) -> Clause:
    """The infinitive that depends on a verb; `controller` is who would do it, `link` its prepositions if not usual."""
    if outer.has("skill"):
        skills = wanted(draw.lexicon, "intransitive", "oblique", "transitive")
        verb = draw.by_order([verb for verb in skills if verb.has("learnt")], "verb")
    else:
        is_purpose = outer.french == "venir"  # come to do something: not to go on to another place
        allowed = ("transitive", "dative") if is_purpose else PLAIN_FRAMES
        frame = draw.weighted({name: draw.settings["frame"][name] for name in allowed})
        verb = draw.by_order(wanted(draw.lexicon, frame), "verb")
    if verb.french == outer.french:
        raise DeadEndError
    english, _, form = draw.synonym(outer.prep[1].split("|")).rpartition("_")
    inner = Clause(controller, verb, draw.synonym(verb.english), INFINITIVE_TENSES[form])
    complete(draw, inner)
    inner.subject, inner.controller = None, french_agreement(controller)
    inner.link = link or (outer.prep[0], "to" if form == "to" else english)
    return inner
