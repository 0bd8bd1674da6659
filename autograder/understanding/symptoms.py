"""Puts a misconception of the catalogue into the student's code, and asks what one sees of it.

A change of one line is a misconception of the catalogue where the changed code gives all the answers that code with
that fault gives: the same comparison by which a diagnosis names a fault. What one sees was observed on both versions.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from foundation.watchdog import CPU, time_limit

from ..diagnosis.catalogue import Budget
from ..sources import Sources
from ..testing.case import Case
from .bench import Bench, Tried, try_changes
from .choosing import Split, drawn
from .question import Option, Question, changed_line, multiple_choice, place_of
from .student_lines import changes_of, own_statements, without

if TYPE_CHECKING:
    from ..assignment_parts import Understanding
    from ..diagnosis.matching import Diagnostician, Match

MOST_DIAGNOSED, MOST_LEFT_OUT = 5, 16
"""Changes."""
COMPARISONS = 800
DIAGNOSIS_SECONDS = 4.0
"""CPU time of recognising one change."""


class Symptoms:
    """What is seen of versions of a component, compared with the code as it is."""

    def __init__(self, bench: Bench, component: str, understanding: Understanding) -> None:
        self._bench, self._symptoms = bench, understanding.SYMPTOMS.get(component, ())
        self._see = [partial(_observed, understanding, component, bench.seed + n) for n in range(2)]
        self._before = [bench.look(see) for see in self._see] if self._symptoms else []

    def after(self, sources: Sources, others: int = 0) -> Split:
        """What is seen of a version, and what certainly is not; nothing of either where it raises.

        With `others` there are other inputs.
        """
        before = self._before[others] if self._before else None
        after = self._bench.look(self._see[others], sources) if before is not None else None
        if before is None or after is None or after["raised"]:
            return (), ()
        shown: list[str] = []
        absent: list[str] = []
        for symptom in self._symptoms:
            try:
                (shown if symptom.shows(before, after) else absent).append(symptom.text)
            except Exception:  # noqa: S112  what cannot be told of such answers is no option
                continue
        return shown, absent


def _observed(understanding: Understanding, component: str, seed: int, sandbox: object) -> Mapping[str, Any]:
    return understanding.observe(component, sandbox, Case(seed, f"symptoms of {component}"))


def symptom_question(
    bench: Bench, component: str, understanding: Understanding, diagnostician: Diagnostician, draw: random.Random
) -> Question | None:
    """A question about a component that works; None where no change is a known misconception with a clear symptom."""
    symptoms = Symptoms(bench, component, understanding)
    noticed = [one for one in try_changes(bench, component, draw) if one.trial.missed]
    texts = [bench.changed(one.change.module, one.change.text) for one in noticed]
    splits = [symptoms.after(sources) for sources in texts]
    for index, seen, options in itertools.islice(drawn(splits, draw), MOST_DIAGNOSED):
        is_sure = symptoms.after(texts[index], others=1) == splits[index]
        match = _recognise(bench, component, noticed[index], diagnostician) if is_sure else None
        if match is not None:
            return _question(bench, component, noticed[index], match, seen, options)
    return None


def purpose_question(
    bench: Bench, component: str, understanding: Understanding, draw: random.Random
) -> Question | None:
    """What a line, or a step of it, is for: which symptom is seen without it."""
    module, _, name = component.partition(".")
    symptoms = Symptoms(bench, component, understanding)
    changes = changes_of(bench.intake.sources[module][1], own_statements(bench.intake, component), without)
    changes = draw.sample(changes, min(len(changes), MOST_LEFT_OUT))
    texts = [bench.changed(module, change.text) for change in changes]
    splits = [symptoms.after(sources) for sources in texts]
    for index, seen, options in drawn(splits, draw):
        if symptoms.after(texts[index], others=1) == splits[index]:
            shown = changed_line(bench.intake, module, changes[index].line, changes[index].text)
            number = place_of(bench.intake, module, changes[index].line)[1]
            left_out = f"{'Line' if shown.after == 'pass' else 'A step of line'} {number} of your `{name}` is left out."
            asked = f"{left_out} What was it for: what is seen without it?"
            return multiple_choice("purpose", component, (asked,), seen, options, change=shown)
    return None


def _recognise(bench: Bench, component: str, tried: Tried, diagnostician: Diagnostician) -> Match | None:
    """The misconception that the change amounts to, if its answers are the same in all tests."""
    task, tape = bench.task_of(component), tried.trial.tape
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
