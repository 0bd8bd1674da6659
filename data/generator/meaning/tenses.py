"""Tenses as pairs: what French says and what English says for the same time and aspect."""

from __future__ import annotations

from typing import NamedTuple


class Tense(NamedTuple):
    """French tense (with its periphrasis, if any) and English tense (with its aspect)."""

    french: str  # present, passe_compose, pluperfect, imperfect, future, conditional, infinitive, imperative
    periphrasis: str  # "", aller, venir de, être en train de
    english: str  # present, past, will, would, going_to, used_to, base, imperative, to, ing
    aspect: str  # "", progressive, perfect, perfect_progressive


TENSES: dict[str, Tense] = {
    "present": Tense("present", "", "present", ""),
    "progressive": Tense("present", "", "present", "progressive"),
    "in_progress": Tense("present", "être en train de", "present", "progressive"),
    "past": Tense("passe_compose", "", "past", ""),
    "perfect": Tense("passe_compose", "", "present", "perfect"),
    "pluperfect": Tense("pluperfect", "", "past", "perfect"),
    "imperfect": Tense("imperfect", "", "past", ""),
    "past_progressive": Tense("imperfect", "", "past", "progressive"),
    "used_to": Tense("imperfect", "", "used_to", ""),
    "future": Tense("future", "", "will", ""),
    "going_to": Tense("present", "aller", "going_to", ""),
    "just": Tense("present", "venir de", "present", "perfect"),
    "since": Tense("present", "", "present", "perfect"),
    "since_progressive": Tense("present", "", "present", "perfect_progressive"),
    "conditional": Tense("conditional", "", "would", ""),
    "infinitive": Tense("infinitive", "", "base", ""),
    "to_infinitive": Tense("infinitive", "", "to", ""),
    "gerund": Tense("infinitive", "", "ing", ""),
    "imperative": Tense("imperative", "", "imperative", ""),
}
