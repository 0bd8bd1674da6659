"""The output of `prove`: tables, or the same as JSON."""

from collections.abc import Sequence
from typing import Any

from foundation.assignment_file import Assignment

from .confusion_matrix import blame_shares, matrix_lines
from .margins import APART
from .result import Proof
from .verdicts import Verdict, by_component

TESTS = {
    "own": "those of its own task; all on one in ten",
    "all": "all on every fault",
}


def report_lines(proof: Proof, show_all: bool) -> list[str]:
    """The report; `show_all` also lists the faults that were found."""
    lines: list[str] = []
    if proof.verdicts:
        shown = proof.verdicts if show_all else proof.bad
        lines += fault_lines(shown, proof.assignment) + ([""] if shown else [])
        lines += [*matrix_lines(proof.verdicts, proof.assignment), ""]
        tests = f"seeds: {proof.seeds}; tests: {TESTS[proof.tests]}"
        lines += [*summary_lines(proof.verdicts, proof.assignment), tests, ""]
    for name, messages in proof.wrong.items():
        lines.append(f"REJECTED {name} ({len(messages)} times): {messages[0]}")
    if proof.variants:
        lines.append(
            f"variants: {len(proof.variants)}, wrongly rejected: {len(proof.wrong)}, seeds: {proof.variant_seeds}"
        )
    for margin in proof.narrow:
        lines.append(f"NARROW {margin.test}: correct code {margin.correct:.1e}, tolerance {margin.tolerance:.0e}")
    lines += [f"CLOSE {name}: found by less than a factor {APART}" for name in proof.close]
    return [*lines, f"CPU {proof.cpu_seconds:.0f} s, wall {proof.wall_seconds:.0f} s"]


def fault_lines(verdicts: Sequence[Verdict], assignment: Assignment) -> list[str]:
    """One line per fault: its id, the tests that found it, what it costs."""
    width = max((len(verdict.fault.id) for verdict in verdicts), default=0)
    lines = []
    for verdict in verdicts:
        first = verdict.killers[0] if verdict.killers else "-"
        more = f" +{len(verdict.killers) - 1}" if len(verdict.killers) > 1 else ""
        lost = ", ".join(f"{number} (-{points:g})" for number, points in verdict.lost.items()) or "nothing"
        lines.append(f"{verdict.fault.id:<{width}}  {first + more:<58}  {lost}{_remark(verdict, assignment)}")
    return lines


def _remark(verdict: Verdict, assignment: Assignment) -> str:
    remarks = []
    if verdict.missed_seeds:
        remarks.append(f"SURVIVED with seeds {verdict.missed_seeds[:5]}")
    if wrong := verdict.wrongly_blamed(assignment):
        remarks.append(f"WRONG BLAME {', '.join(wrong)}")
    if verdict.grader_errors:
        remarks.append(f"TEST BROKE {verdict.grader_errors[0]}")
    return "".join(f"  <- {remark}" for remark in remarks)


def summary_lines(verdicts: Sequence[Verdict], assignment: Assignment) -> list[str]:
    """One line per component, and the totals."""
    lines = [f"{'component':<42}{'faults':>7}{'killed':>8}{'right blame':>13}{'CPU s':>7}"]
    for component, own in (*by_component(verdicts, assignment).items(), ("all", verdicts)):
        killed = sum(verdict.is_killed for verdict in own)
        right = sum(not verdict.wrongly_blamed(assignment) for verdict in own)
        seconds = sum(verdict.cpu_seconds for verdict in own)
        lines.append(f"{component:<42}{len(own):>7}{killed:>8}{right:>13}{seconds:>7.0f}")
    return lines


def as_data(proof: Proof) -> dict[str, Any]:
    """The report as JSON."""
    components, numbers, shares = blame_shares(proof.verdicts, proof.assignment)
    return {
        "holds": proof.holds,
        "seeds": proof.seeds,
        "variant_seeds": proof.variant_seeds,
        "tests": proof.tests,
        "faults": [fault_data(verdict, proof.assignment) for verdict in proof.verdicts],
        "confusion": {"components": components, "tasks": numbers, "shares": shares},
        "killed": sum(verdict.is_killed for verdict in proof.verdicts),
        "good": sum(verdict.is_good(proof.assignment) for verdict in proof.verdicts),
        "total": len(proof.verdicts),
        "variants": {
            variant.name: {"what": variant.what, "rejections": proof.rejected[variant.name]}
            for variant in proof.variants
        },
        "rejected": proof.wrong,
        "margins": [{**vars(margin), "is_wide": margin.is_wide} for margin in proof.margins],
        "close": proof.close,
        "cpu_seconds": round(proof.cpu_seconds, 1),
        "wall_seconds": round(proof.wall_seconds, 1),
    }


def fault_data(verdict: Verdict, assignment: Assignment) -> dict[str, Any]:
    """One fault as JSON."""
    return {
        "id": verdict.fault.id,
        "component": verdict.fault.component,
        "task": verdict.fault.task,
        "severity": verdict.fault.severity,
        "killed": verdict.is_killed,
        "killed_by": verdict.killers,
        "lost_points": verdict.lost,
        "wrongly_blamed": verdict.wrongly_blamed(assignment),
        "grader_errors": verdict.grader_errors,
        "cpu_seconds": round(verdict.cpu_seconds, 3),
    }
