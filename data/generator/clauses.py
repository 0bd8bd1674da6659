"""Drawing plain verb clauses: frame, verb, a subject that it admits, tense, negation, complements, time."""

from collections.abc import Collection
from functools import cache

from .adjuncts import EVERYONE, add_adjunct, add_time, draw_place, draw_tense, other_person
from .chance import Draw, require
from .entries import Lexicon, Selection, Texts, Verb
from .meaning import IT, NEUTRAL, Agreement, Clause, Indefinite, Nominal, NounPhrase, Pronoun, french_agreement
from .nouns import draw_object, draw_subject

# lui would be him or her alike, so it is not used where nothing else decides
DATIVES = ("je", "tu", "nous", "vous", "ils")
PLAIN_FRAMES = ("intransitive", "expression", "transitive", "oblique", "dative", "locative")
NOTHING = {"rien": ("rien", "anything"), "personne": ("personne", "anyone")}


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
    require(doer.agreement.person == 3 or not verb.has("third"))
    clause = Clause(doer, verb, draw.synonym(verb.english), tense or draw_tense(draw, verb))
    if can_negate and "affirmative" not in clause.tenses["traits"]:
        _negate(draw, clause)
    complete(draw, clause)
    add_time(draw, clause)
    return clause


def draw_frame(draw: Draw, *without: str) -> str:
    """A frame of a plain clause."""
    return draw.weighted({name: weight for name, weight in draw.settings["frame"].items() if name not in without})


def draw_verb(draw: Draw, frame: str, subject: Pronoun | None = None, is_voluntary: bool = False) -> Verb:
    """A verb of a frame; where it `is_voluntary` one may want or decide to do it."""
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
    acts = verb.frame == "transitive" and verb.aspect != "state"
    is_present = tense in ("present", "progressive")
    allowed = {
        "pas": True,
        "plus": is_present and verb.aspect != "point" and verb.frame != "swap",
        "jamais": is_present or tense in ("past", "future"),
        "rien": acts and bool(classes) and "human" not in classes,
        "personne": acts and "human" in classes,
        "que": acts and bool(classes & draw.groups["consumed"].classes),
        "encore": tense == "past",
    }
    weights = {name: weight for name, weight in draw.settings["negation"].items() if allowed[name]}
    clause.negation = draw.weighted({"jamais": 2, "encore": 3} if tense == "perfect" else weights)
    if clause.negation in ("jamais", "plus") and tense == "progressive":
        clause.tense = "present"
    elif clause.negation in ("pas", "rien", "personne", "que") and tense == "present" and verb.aspect != "state":
        clause.tense = "progressive"
    elif clause.negation in ("jamais", "encore") and tense == "past":
        clause.tense = "perfect"


def is_quantified(subject: Nominal | None) -> bool:
    """True if a negation would be ambiguous: *tous les enfants ne dorment pas*."""
    if isinstance(subject, NounPhrase):
        return subject.determiner in ("every", "all", "many", "several", "number", "a")
    return isinstance(subject, Indefinite)


def complete(draw: Draw, clause: Clause) -> None:
    """Gives the clause the complements of its frame and perhaps an adjunct."""
    if clause.verb.frame == "locative":
        clause.place = draw_place(draw, clause.verb.object, clause)
    elif clause.verb.frame in COMPLEMENTS:
        COMPLEMENTS[clause.verb.frame](draw, clause)
    require(clause.subject not in (clause.object, clause.oblique))
    add_adjunct(draw, clause)


def _options(clause: Clause) -> set[str]:
    is_act = clause.verb.aspect != "state" or clause.verb.french in ("avoir", "voir", "entendre")
    is_negated = is_act and clause.negation in ("pas", "plus", "jamais", "encore")
    return {*clause.verb.options, "negated"} if is_negated else {*clause.verb.options}


def _object(draw: Draw, clause: Clause) -> None:
    if clause.negation in NOTHING:
        clause.object = Indefinite(NOTHING[clause.negation])
        return
    if clause.negation != "que" and not clause.verb.has("generic") and draw.share("object_pronoun"):
        clause.object = _pronoun(draw, clause)
    clause.object = clause.object or draw_object(draw, clause.verb.object, clause, _options(clause))


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
    return Pronoun(Agreement(3, number, gender), "thing", english=Agreement(3, number, "thing"))


def _can_point(draw: Draw, selection: Selection) -> bool:
    classes = selection.classes.union(class_name for class_name, _ in selection.nouns)
    return draw.can_point and not classes & draw.groups["never_pronoun"].classes


def _oblique(draw: Draw, clause: Clause) -> None:
    verb, selection = clause.verb, clause.verb.object
    if not verb.has("bare") and draw.share("object_pronoun"):
        if "human" in selection.classes:
            clause.oblique = other_person(draw, clause.subject, DATIVES if verb.has("dative") else EVERYONE)
        elif verb.has("y", "en") and _can_point(draw, selection):
            clause.oblique = Pronoun(NEUTRAL, "thing", english=IT)
    if clause.oblique is None:
        definite = ["definite"] if clause.negation else []  # neither *some* nor *a few* after *not*
        clause.oblique = draw_object(draw, selection, clause, {*verb.options, *definite})


def _recipient(draw: Draw, clause: Clause, selection: Selection, names: Collection[str]) -> Nominal:
    recipient: Nominal | None = None
    if "human" in selection.classes and draw.happens(0.55):
        recipient = other_person(draw, clause.subject, names)
    recipient = recipient or draw_object(draw, selection, clause, {"plain"})
    require(recipient != clause.subject)
    return recipient


def _dative(draw: Draw, clause: Clause) -> None:
    clause.recipient = _recipient(draw, clause, clause.verb.recipient, DATIVES)
    is_pronoun = isinstance(clause.recipient, Pronoun)
    is_third = is_pronoun and clause.recipient.agreement.person == 3
    if not is_third and draw.share("object_pronoun"):
        clause.object = _pronoun(draw, clause)
    options = _options(clause) if is_pronoun else {*_options(clause), "plain"}
    clause.object = clause.object or draw_object(draw, clause.verb.object, clause, options)


def _control(draw: Draw, clause: Clause) -> None:
    names = EVERYONE if clause.verb.has("accusative") else DATIVES
    clause.recipient = _recipient(draw, clause, draw.groups["person"], names)
    draw.can_own = False
    clause.infinitive = inner = draw_infinitive(draw, clause.verb, clause.recipient)
    person = clause.agreement.person
    pronouns = [n for n in (inner.object, inner.recipient, inner.oblique) if isinstance(n, Pronoun)]
    # None of them means the subject.
    require(person == 3 or all(pronoun.agreement.person != person for pronoun in pronouns))


def _swap(draw: Draw, clause: Clause) -> None:
    clause.object = require(other_person(draw, clause.subject, DATIVES))


COMPLEMENTS = {"transitive": _object, "oblique": _oblique, "dative": _dative, "control": _control, "swap": _swap}


def draw_infinitive(draw: Draw, outer: Verb, controller: Nominal, link: Texts | None = None) -> Clause:
    """The infinitive that depends on a verb; `controller` is who would do it."""
    if outer.has("skill"):
        skills = wanted(draw.lexicon, "intransitive", "oblique", "transitive")
        verb = draw.by_order([verb for verb in skills if verb.has("learnt")], "verb")
    else:
        is_purpose = outer.french == "venir"  # come to do something: not to go on to another place
        allowed = ("transitive", "dative") if is_purpose else PLAIN_FRAMES
        frame = draw.setting("frame", only=allowed)
        verb = draw.by_order(wanted(draw.lexicon, frame), "verb")
    require(verb.french != outer.french)
    english, _, form = draw.synonym(outer.prep[1].split("|")).rpartition("_")
    inner = Clause(controller, verb, draw.synonym(verb.english), form)
    complete(draw, inner)
    inner.subject, inner.controller = None, french_agreement(controller)
    inner.link = link or (outer.prep[0], "to" if form == "to" else english)
    return inner
