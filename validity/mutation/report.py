"""The result of mutation testing: for the terminal, as JSON, and as a page."""

from typing import Any

from ..markdown import table
from .survivors import Mutation


def report_lines(mutation: Mutation) -> list[str]:
    """The report for the terminal."""
    lines = [f"SURVIVED {mutant.name}" for mutant in mutation.survivors]
    lines += [f"TEST BROKE {message}" for message in mutation.broken]
    lines += [f"KILLED, but listed as equivalent: {mutant.name}" for mutant in mutation.wrongly_listed]
    lines += [f"LISTED, but not a mutant: {entry.within}: {entry.before} -> {entry.after}" for entry in mutation.stale]
    lines.append("mutants: {}, killed: {}, equivalent: {}, survivors: {}".format(*mutation.counts()))
    return [*lines, f"CPU {mutation.cpu_seconds:.0f} s, wall {mutation.wall_seconds:.0f} s"]


def as_data(mutation: Mutation) -> dict[str, Any]:
    """The report as JSON."""
    number, killed, equivalent, survivors = mutation.counts()
    return {
        "holds": mutation.holds,
        "mutants": number,
        "killed": killed,
        "equivalent": equivalent,
        "survivors": [
            {"within": m.key[0], "before": m.before, "after": m.after, "line": m.line, "task": m.task}
            for m in mutation.survivors
        ],
        "broken": mutation.broken,
        "wrongly_listed": [mutant.name for mutant in mutation.wrongly_listed],
        "stale": [vars(entry) for entry in mutation.stale],
        "cpu_seconds": round(mutation.cpu_seconds, 1),
        "wall_seconds": round(mutation.wall_seconds, 1),
    }


def mutation_page(mutation: Mutation) -> str:
    """The report as a page for docs/proof."""
    counts = mutation.counts()
    rows = [(number, *mutation.counts(number)) for number in dict.fromkeys(m.task for m in mutation.mutants)]
    reasons: dict[str, list[str]] = {}
    for mutant in mutation.equivalent:
        reasons.setdefault(mutation.reasons[mutant.key], []).append(mutant.name)
    operators = [
        (operator, *mutation.counts(operator=operator)) for operator in sorted({m.operator for m in mutation.mutants})
    ]
    head = "mutants", "killed", "equivalent", "survivors"
    parts = [
        "# Mutation testing of the solutions",
        "Written by `make proof`. Each mutant is the reference with one small change in a solution, made by the "
        "operators in `autograder/understanding/operators.py`, which know nothing of Transformers. It must fail a test "
        "of the task whose solution it changes (or, in a part that pre-norm shares, a test of E.2). A mutant that "
        "passes must be listed in `autograder/assignment/proof/equivalents.toml`, with the reason why it is right or "
        "cannot be told from correct code.",
        "{} mutants: {} killed, {} equivalent, {} survivors.".format(*counts),
        table(("task", *head), rows),
        table(("operator", *head), operators),
        "## Equivalent mutants",
    ]
    for reason, names in reasons.items():
        parts.append(f"{reason[0].upper()}{reason[1:]}:")
        parts.append("\n".join(f"- `{name}`" for name in names))
    return "\n\n".join(parts) + "\n"
