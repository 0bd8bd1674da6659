"""French sentences: statement, question, command; two clauses and their conjunction; the mark at the end.

The order of a clause is in `clauses.py`, nominals in `noun_phrases.py`, verbs in `verbs.py`, words in `forms.py`.
"""

from __future__ import annotations

from ..alignment import Word, word, words
from ..meaning import Clause, Linked, Sentence
from .clauses import FrenchClauses
from .forms import join


def write_french(sentence: Sentence) -> list[Word]:
    """The sentence's tokens in the corpus's spelling."""
    writer = FrenchClauses()
    result: list[Word] = []
    if sentence.front is not None:
        result += words(sentence.front.adverb.french, sentence.front, "head")
    if isinstance(sentence.body, Linked):
        result += _linked(sentence.body, writer)
    else:
        result += _question_start(sentence, sentence.body, writer)
        result += writer.clause(sentence.body, is_inverted=sentence.form == "inversion")
    return [*join(result), word(sentence.mark, sentence, "mark")]


def _linked(linked: Linked, writer: FrenchClauses) -> list[Word]:
    conjunction = words(linked.conjunction[0], linked, "conjunction")
    first, second = writer.clause(linked.first), writer.clause(linked.second)
    return [*conjunction, *second, *first] if linked.is_fronted else [*first, *conjunction, *second]


def _question_start(sentence: Sentence, body: Clause, writer: FrenchClauses) -> list[Word]:
    """Question word or phrase, and *est-ce que* where the question has it."""
    result: list[Word] = []
    question = sentence.question
    if question is not None:
        if question.nominal is not None:
            result += writer.nominals.noun_phrase(question.nominal)
        else:
            result += words(question.french, question, "head")
    if sentence.form == "est-ce que":
        head = (body, "verb") if question is None or question.nominal is not None else (question, "head")
        result += words("est ce que", sentence, "question", head)
    return result
