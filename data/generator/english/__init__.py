"""English sentences: statement, question, command; two clauses and their conjunction; the mark at the end.

The order of a clause is in `clauses.py`, nominals in `noun_phrases.py`, verbs in `verbs.py`, words in `forms.py`.
"""

from __future__ import annotations

from ..alignment import Word, word, words
from ..meaning import Clause, Linked, Sentence
from .clauses import EnglishClauses


def write_english(sentence: Sentence) -> list[Word]:
    """The sentence's tokens in the corpus's spelling."""
    writer = EnglishClauses(sentence)
    result: list[Word] = []
    if sentence.front is not None:
        result += words(sentence.front.english, sentence.front, "head")
    if isinstance(sentence.body, Linked):
        result += _linked(sentence.body, writer)
    else:
        result += _question(sentence, sentence.body, writer)
    split = [
        Word(part, found.keys, found.fallback)
        for found in result
        for part in found.text.replace("-", " ").replace("'", " ").split()
    ]
    return [*split, word(sentence.mark, sentence, "mark")]


def _linked(linked: Linked, writer: EnglishClauses) -> list[Word]:
    conjunction = words(linked.conjunction[1], linked, "conjunction")
    first, second = writer.clause(linked.first), writer.clause(linked.second)
    return [*conjunction, *second, *first] if linked.is_fronted else [*first, *conjunction, *second]


def _question(sentence: Sentence, body: Clause, writer: EnglishClauses) -> list[Word]:
    question = sentence.question
    result: list[Word] = []
    if question is not None:
        if question.nominal is not None:
            result += writer.nominals.noun_phrase(question.nominal)
        else:
            result += words(question.english, question, "head")
    is_inverted = sentence.is_question and (question is None or question.role != "subject")
    return [*result, *writer.clause(body, is_inverted=is_inverted)]
