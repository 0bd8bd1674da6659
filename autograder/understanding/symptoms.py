"""Puts a misconception of the catalogue into the student's code, and asks what one sees of it.

A change of one line is a misconception of the catalogue where the changed code gives all the answers that code with
that fault gives: the same comparison by which a diagnosis names a fault. What one sees was observed on both versions.
"""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from foundation.watchdog import CPU, time_limit

from ..diagnosis.catalogue import Budget
from ..testing.case import Case
from .bench import Bench, Tried, try_changes
from .own_code import Statement, own_statements, with_code
from .question import N_OPTIONS, Option, Question, multiple_choice, place_of, with_wrong
from .shapes import excerpt_of

if TYPE_CHECKING:
    from ..assignment_parts import Symptom, Understanding

    Split = tuple[list[Symptom], list[Symptom]]
    from ..diagnosis.matching import Diagnostician, Match

MOST_DIAGNOSED = 5
MOST_LIKELY = 5
"""Symptoms among which the wrong ones are chosen."""
COMPARISONS = 800
DIAGNOSIS_SECONDS = 4.0
"""CPU time of recognising one change."""


def symptom_question(
    bench: Bench, component: str, understanding: Understanding, diagnostician: Diagnostician, draw: random.Random
) -> Question | None:
    """A question about a component that works; None where no change is a known misconception with a clear symptom."""
    symptoms = understanding.SYMPTOMS.get(component, ())
    case_name = f"symptoms of {component}"

    def observe(sandbox: object, seed: int = bench.seed) -> Mapping[str, Any]:
        return understanding.observe(component, sandbox, Case(seed, case_name))

    observe_again = partial(observe, seed=bench.seed + 1)
    before = bench.look(observe) if symptoms else None
    if before is None:
        return None
    noticed = [one for one in try_changes(bench, component, draw) if one.trial.missed]
    draw.shuffle(noticed)
    texts = [bench.changed(one.change.module, one.change.text) for one in noticed]
    splits = [_split(symptoms, before, bench.look(observe, sources)) for sources in texts]
    diagnosed = 0
    for tried, sources, split in zip(noticed, texts, splits, strict=True):
        if not is_askable(split) or diagnosed == MOST_DIAGNOSED:
            continue
        diagnosed += 1
        again = _split(symptoms, bench.look(observe_again) or {}, bench.look(observe_again, sources))
        match = _recognise(bench, component, tried, diagnostician) if again == split else None
        if match is not None:
            return _question(bench, component, tried, match, *_options(split, splits, draw))
    return None


def symptoms_after(bench: Bench, component: str, understanding: Understanding, tried: Tried) -> list[str]:
    """What is seen of a change."""

    def observe(sandbox: object) -> Mapping[str, Any]:
        return understanding.observe(component, sandbox, Case(bench.seed, f"symptoms of {component}"))

    before = bench.look(observe)
    after = bench.look(observe, bench.changed(tried.change.module, tried.change.text))
    found = _split(understanding.SYMPTOMS.get(component, ()), before, after)[0] if before is not None else []
    return [one.text for one in found]


def purpose_question(
    bench: Bench, component: str, understanding: Understanding, draw: random.Random
) -> Question | None:
    """What a line is for: which symptom one would see without it."""
    symptoms = understanding.SYMPTOMS.get(component, ())
    module, _, name = component.partition(".")
    text = bench.intake.sources[module][1]

    def observe(sandbox: object) -> Mapping[str, Any]:
        return understanding.observe(component, sandbox, Case(bench.seed, f"symptoms of {component}"))

    before = bench.look(observe) if symptoms else None
    if before is None:
        return None
    own = [one for one in own_statements(bench.intake, component) if not isinstance(one.node, ast.Return)]
    splits: list[Split] = []
    askable: list[tuple[Statement, Split]] = []
    for statement in own:
        without = with_code(text, statement.node, "pass")
        after = bench.look(observe, bench.changed(module, without)) if without else None
        splits.append(_split(symptoms, before, after))
        if after is not None and not after["raised"] and is_askable(splits[-1]):
            askable.append((statement, splits[-1]))
    if not askable:
        return None
    statement, split = draw.choice(askable)
    right, options = _options(split, splits, draw)
    number = place_of(bench.intake, module, statement.node.lineno)[1]
    asked = f"What is line {number} of your `{name}` for? Suppose it was not there: what would be seen?"
    return multiple_choice("purpose", component, (asked,), right, options, (excerpt_of(bench, statement),))


def is_askable(split: Split) -> bool:
    """Whether there is a symptom to be seen, and enough that are not."""
    return bool(split[0]) and len(split[1]) >= N_OPTIONS - 1


def _options(split: Split, splits: Sequence[Split], draw: random.Random) -> tuple[Option, list[Option]]:
    """A symptom that is seen, and four to choose from.

    What other changes of this code show often is rarely the right one here, and often a wrong one: whoever knows what
    faulty code usually does must not know the answer.
    """
    often = Counter(one.text for shown, _ in splits for one in shown)
    right = min(split[0], key=lambda one: (often[one.text] + 1) * draw.random())
    likely = sorted(split[1], key=lambda one: draw.random() / (often[one.text] + 0.2))[:MOST_LIKELY]
    option = Option(right.text)
    return option, with_wrong(option, [Option(one.text) for one in likely], draw)


def _split(symptoms: Sequence[Symptom], before: Mapping[str, Any], after: Mapping[str, Any] | None) -> Split:
    """The symptoms that are seen after a change, and those that certainly are not."""
    shown: list[Symptom] = []
    absent: list[Symptom] = []
    if after is None:
        return shown, absent
    for symptom in symptoms:
        try:
            (shown if symptom.shows(before, after) else absent).append(symptom)
        except Exception:  # noqa: S112  what cannot be told of such answers is no option
            continue
    return shown, absent


def _recognise(bench: Bench, component: str, tried: Tried, diagnostician: Diagnostician) -> Match | None:
    """The misconception that the change amounts to, if its answers are the same in all tests."""
    task, tape = bench.task_of(component), tried.tape
    if tape is None:
        return None
    missed = [outcome.nodeid for outcome in tried.trial.outcomes if outcome.is_missed]
    episodes = [tape.episodes[one.nodeid] for one in tried.trial.outcomes if one.nodeid in tape.episodes]
    try:
        with time_limit(DIAGNOSIS_SECONDS, CPU):
            diagnostician.prepare(task.components, task.number)
            match = diagnostician.diagnose(task.components, task.number, episodes, missed, Budget(COMPARISONS))
    except Exception:  # by an answer of an unexpected kind, or for its time: then there is no such question
        return None
    return match if match is not None and match.share == 1 else None


def _question(
    bench: Bench, component: str, tried: Tried, match: Match, seen: Option, options: list[Option]
) -> Question:
    name = component.partition(".")[2]
    text = (f"Somebody changes one line of your `{name}`. Only one of these can then be observed. Which one, and why?",)
    others = f", or like code that {match.others[0].when}" if match.others else ""
    why = (
        f"The changed code behaves exactly like code that {match.fault.when}{others} (catalogue: {match.fault.id}).",
        f"It breaks {', '.join(f'`{name}`' for name in tried.trial.missed)}.",
    )
    return multiple_choice("symptom", component, text, seen, options, change=tried.option(bench), why=why)
