"""What `prove` says: tables for the terminal, and the same as data."""

from collections.abc import Sequence

from foundation.assignment_file import Assignment

from .verdicts import Verdict, blame_shares, by_component


def fault_lines(verdicts: Sequence[Verdict], assignment: Assignment) -> list[str]:
    """One line a fault: its id, who found it, what it costs."""
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
    """One line a component, and the sum."""
    lines = [f"{'component':<42}{'faults':>7}{'killed':>8}{'right blame':>13}{'CPU s':>7}"]
    for component, own in (*by_component(verdicts, assignment).items(), ("all", verdicts)):
        killed = sum(verdict.is_killed for verdict in own)
        right = sum(not verdict.wrongly_blamed(assignment) for verdict in own)
        seconds = sum(verdict.cpu_seconds for verdict in own)
        lines.append(f"{component:<42}{len(own):>7}{killed:>8}{right:>13}{seconds:>7.0f}")
    return lines


def matrix_lines(verdicts: Sequence[Verdict], assignment: Assignment) -> list[str]:
    """The confusion matrix in percent; an empty cell is 0."""
    components, numbers, shares = blame_shares(verdicts, assignment)
    lines = [f"{'fault in':<30}" + "".join(f"{number:>6}" for number in numbers)]
    for component, row in zip(components, shares, strict=True):
        cells = "".join(f"{f'{share:.0%}' if share else '.':>6}" for share in row)
        lines.append(f"{component:<30}{cells}")
    return lines


def as_data(verdicts: Sequence[Verdict], assignment: Assignment) -> dict:
    """For programs."""
    components, numbers, shares = blame_shares(verdicts, assignment)
    return {
        "faults": [
            {
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
            for verdict in verdicts
        ],
        "confusion": {"components": components, "tasks": numbers, "shares": shares},
        "killed": sum(verdict.is_killed for verdict in verdicts),
        "good": sum(verdict.is_good(assignment) for verdict in verdicts),
        "total": len(verdicts),
    }
