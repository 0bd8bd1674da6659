"""What the proof found: for the terminal, and as pages for docs/proof.

The pages hold no times or dates: they change only when a result does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.whole_files import write_whole

if TYPE_CHECKING:
    from .prove import Proof, Verdict

ITEMS = """# What each known fault costs: items of the rubric

Written by `make proof`. An item that only needs another one (`requires`) is not named. One fault should cost one item.
Where it costs more, the reason is one of these:

- **The component does not work.** It raises in every call, returns something of another shape or type, depends on
  chance, or learns nothing at all: then nothing can be compared, not even with itself.
- **The fault is in two places.** A softmax over the wrong axis, a scale that counts the keys, or heads that are mixed
  up change the formula and what a mask hides. Keys that are never read have no gradients.
- **An edge of what is wrong.** Wrong masks are wrong for a query without keys, too ("numerically safe"), a wrong
  formula for large scores; a wrong variance shows with every epsilon.
- **Nothing to read.** Where a part is missing or of another size, both maps and what is between them are lost unless
  the remaining numbers can still be read."""
"""The head of the page about items."""
TESTS = {"own": "the tests of their own components", "all": "all tests with the first seed"}


def table_lines(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a Markdown table, each as soon as its row is there."""
    for cells in (head, ["---"] * len(head)):
        yield f"| {' | '.join(cells)} |"
    for row in rows:
        texts = (str(cell).replace("|", "\\|") for cell in row)
        yield f"| {' | '.join(texts)} |"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    return "\n".join(table_lines(head, rows))


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints a table; rows that are measured one by one show at once."""
    for line in table_lines(head, rows):
        print(line, flush=True)


def blame_table(proof: Proof) -> str:
    """How many faults of each component are found, and what share of them costs each task points.

    A component's extension has a row of its own.
    """
    numbers = [task.number for task in proof.assignment.tasks if task.components]
    order = [component for task in proof.assignment.tasks for component in task.components]
    rows: dict[str, list[Verdict]] = {}
    for verdict in sorted(proof.verdicts, key=lambda one: (order.index(one.fault.component), one.fault.task)):
        name, task = verdict.fault.component.split(".")[1], verdict.fault.task
        if task.startswith("E") and name in rows and rows[name][0].fault.task != task:
            name = f"{name}, {task}"
        rows.setdefault(name, []).append(verdict)

    def share(number: str, own: list[Verdict]) -> str:
        found = sum(number in verdict.lost for verdict in own)
        return f"{found / len(own):.0%}" if found else ""

    cells = (
        (name, len(own), sum(one.is_killed for one in own), *(share(number, own) for number in numbers))
        for name, own in rows.items()
    )
    return table(("fault in", "faults", "found", *numbers), cells)


def faults_table(verdicts: Sequence[Verdict]) -> str:
    """Each fault with what finds it, what it costs, and what is wrong with that."""
    rows = (
        (
            f"`{verdict.fault.id}`",
            verdict.fault.when,
            verdict.fault.severity,
            verdict.killers[0] if verdict.killers else "nothing",
            max(0, len(verdict.killers) - 1) or "",
            ", ".join([*(f"{task} (-{points:g})" for task, points in verdict.lost.items()), *flaws(verdict)]),
        )
        for verdict in verdicts
    )
    return table(("fault", "code that …", "severity", "found by", "and others", "costs"), rows)


def items_table(verdicts: Sequence[Verdict]) -> str:
    """Which items of its task's rubric each fault costs; the faults that cost the same ones are in one row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for verdict in verdicts:
        rows.setdefault((verdict.fault.task, *verdict.items), []).append(verdict.fault.id)
    ordered = sorted(rows.items(), key=lambda row: (row[0][0], len(row[0]), -len(row[1])))
    cells = (
        (task, " · ".join(items) or "none", len(faults), ", ".join(f"`{fault}`" for fault in faults))
        for (task, *items), faults in ordered
    )
    return table(("task", "items with a failed test", "faults", "which"), cells)


def flaws(verdict: Verdict) -> list[str]:
    """Why a fault's verdict is not good."""
    found = [f"SURVIVED with seeds {verdict.missed_seeds[:5]}"] if verdict.missed_seeds else []
    scores = sorted(verdict.scores)
    found += [f"MARKS DIFFER WITH THE SEED: {', '.join(f'{one:g}' for one in scores)}"] if len(scores) > 1 else []
    found += [f"WRONG BLAME {', '.join(verdict.wrongly_blamed)}"] if verdict.wrongly_blamed else []
    return found + [f"TEST BROKE {message}" for message in verdict.grader_errors[:1]]


def n_killed(proof: Proof) -> int:
    """How many faults are found with every seed."""
    return sum(verdict.is_killed for verdict in proof.verdicts)


def as_text(proof: Proof, show_all: bool) -> str:
    """The report for the terminal; `show_all` also lists the faults that were found."""
    shown = proof.verdicts if show_all else proof.bad
    parts = [faults_table(shown)] if shown else []
    if proof.verdicts:
        parts.append(blame_table(proof))
        parts.append(
            f"{len(proof.verdicts)} faults, {n_killed(proof)} found; of those under a condition "
            f"{proof.conditional_share:.1%}; seeds: {proof.seeds}; {TESTS[proof.tests]}"
        )
    lines = [f"REJECTED {name} ({len(found)} times): {found[0]}" for name, found in proof.wrong.items()]
    if proof.variants:
        n_rejected = len(proof.wrong)
        lines.append(f"variants: {len(proof.variants)}, wrongly rejected: {n_rejected}, seeds: {proof.variant_seeds}")
    return "\n\n".join([*parts, "\n".join(lines)])


def write_pages(proof: Proof, folder: Path) -> None:
    """Writes README.md, and where faults were tried their list."""
    folder.mkdir(parents=True, exist_ok=True)
    if proof.verdicts:
        faults = faults_table(proof.verdicts)
        title = f"# The {len(proof.verdicts)} known faults\n\nWritten by `make proof`; see [the proof](README.md)."
        write_whole(folder / "faults.md", f"{title}\n\n{faults}\n")
        write_whole(folder / "items.md", f"{ITEMS}\n\n{items_table(proof.verdicts)}\n")
    write_whole(folder / "README.md", proof_page(proof))


def proof_page(proof: Proof) -> str:
    """The proof's result as a page."""
    parts = [
        "# Proof of the component tests",
        "Written by `make proof`, or with fewer seeds by `python -m validity prove --output docs/proof`; "
        "`make prove` repeats the proof with one seed.",
    ]
    if proof.verdicts:
        right = sum(not verdict.wrongly_blamed for verdict in proof.verdicts)
        parts += [
            "## Faults",
            f"{len(proof.verdicts)} known faults ([list](faults.md)), each put into the reference on its own, with "
            f"{in_seeds(proof.seeds)}: {n_killed(proof)} are found with every seed, each with the "
            f"same mark unless it shows only under a condition; {right} cost points only in "
            f"tasks of the faulty component. Versions get {TESTS[proof.tests]}. The table shows what share of a "
            "component's faults costs each task points. A fault in a part that post-norm and pre-norm (E.2) share "
            "costs points in both; a fault of pre-norm alone only in E.2.",
            blame_table(proof),
        ]
    if proof.variants:
        parts += [
            "## Correct code that looks different",
            f"{len(proof.variants)} variants and the reference with {in_seeds(proof.variant_seeds)} (rewritings of the "
            f"reference's text with one seed); wrongly rejected: {len(proof.wrong)}.",
            table(
                ("variant", "what is different", "where"),
                [(f"`{one.name}`", one.what.rstrip("."), one.where) for one in proof.variants],
            ),
        ]
    return "\n\n".join(parts) + "\n"


def in_seeds(count: int) -> str:
    """The number of seeds in words."""
    return "one seed" if count == 1 else f"{count} seeds"
