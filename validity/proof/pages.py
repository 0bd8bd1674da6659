"""The pages that `prove` and `mutate` write for docs/proof/: no times and no dates, so that only news changes them."""

from collections.abc import Iterable, Sequence

from tqdm import tqdm

from .results import Mutation, Proof
from .tables import matrix_lines
from .tolerances import APART
from .verdicts import Verdict, by_component

PICTURE = "confusion.png"


def proof_page(proof: Proof) -> str:
    """The proof's result as a page."""
    parts = ["# Proof of the component tests", "Written by `make docs`; `make prove` repeats the proof with one seed."]
    if proof.verdicts:
        parts += faults_part(proof)
    if proof.variants:
        parts += variants_part(proof)
    return "\n\n".join([*parts, *tolerances_part(proof)]) + "\n"


def faults_part(proof: Proof) -> list[str]:
    """How many faults are found, and who is blamed."""
    killed = sum(verdict.is_killed for verdict in proof.verdicts)
    right = sum(not verdict.wrongly_blamed(proof.assignment) for verdict in proof.verdicts)
    rows = [
        (
            f"`{component}`",
            len(own),
            sum(verdict.is_killed for verdict in own),
            sum(not verdict.wrongly_blamed(proof.assignment) for verdict in own),
        )
        for component, own in by_component(proof.verdicts, proof.assignment).items()
    ]
    return [
        "## Faults",
        f"{len(proof.verdicts)} known faults ([list](faults.md)), each in the reference by itself, with "
        f"{_seeds(proof.seeds)}: {killed} are found with every seed, and with {right} of them nothing but a task of "
        "the faulty component loses points. With the first seed all tests ran, with the others those of the "
        "component's tasks.",
        table(("component", "faults", "found", "right blame"), rows),
        "A fault in a part that post-norm and pre-norm (E.2) share costs both. A fault of pre-norm alone costs E.2 "
        "alone.",
        f"![Share of a component's faults that cost each task points]({PICTURE})",
        "\n".join(["```text", *matrix_lines(proof.verdicts, proof.assignment), "```"]),
    ]


def variants_part(proof: Proof) -> list[str]:
    """Which correct implementations pass."""
    rows = [(f"`{variant.name}`", variant.what.rstrip("."), _components(variant)) for variant in proof.variants]
    return [
        "## Correct code that looks different",
        f"{len(proof.variants)} variants and the reference with {_seeds(proof.variant_seeds)} (rewritings of the "
        f"reference's text with one); wrongly rejected: {len(proof.wrong)}.",
        table(("variant", "what is different", "where"), rows),
    ]


def _components(variant: object) -> str:
    if variant.is_same_code:
        return "everywhere"
    return ", ".join(f"`{component.split('.')[1]}`" for component in variant.components)


def tolerances_part(proof: Proof) -> list[str]:
    """What the tolerances rest on."""
    rows = [
        (
            f"`{margin.test}`",
            power(margin.correct),
            power(margin.hidden) if proof.verdicts else "",
            f"{margin.tolerance:.0e}",
            "" if margin.fault is None else power(margin.fault, up=False),
            "" if margin.is_wide else "too near",
        )
        for margin in proof.margins
    ]
    nearest = [margin.fault / margin.tolerance for margin in proof.margins if margin.fault is not None]
    said = f"the nearest fault is a factor {min(nearest):.0f} above" if nearest else "no fault was tried"
    widest = max((margin.correct / margin.tolerance for margin in proof.margins if margin.tolerance), default=0.0)
    return [
        "## Tolerances",
        f"Errors in float64, relative to 1 + the size of the expected value. Tolerances are right where at least a "
        f"factor {APART} lies between them and correct code, and where each fault, with each seed, fails some test by "
        f"that factor too (or otherwise than by a number). Here correct code comes no nearer than a factor "
        f"{1 / widest if widest else float('inf'):.0f}; faults found by less than a factor {APART}: "
        f"{len(proof.close)}; in single tests {said}. "
        "Powers of ten, rounded towards the tolerance; `0` = never different. *Hidden* is the largest error of a "
        "fault that this test lets pass because it is not where the fault shows (another test finds it).",
        table(("test", "correct code at most", "hidden at most", "tolerance", "faults from", ""), rows),
    ]


def faults_page(verdicts: Sequence[Verdict]) -> str:
    """Every fault with what finds it."""
    rows = [
        (
            f"`{verdict.fault.id}`",
            _cell(verdict.fault.when),
            verdict.fault.severity,
            _cell(verdict.killers[0]) if verdict.killers else "nothing",
            max(0, len(verdict.killers) - 1) or "",
            ", ".join(f"{number} (-{points:g})" for number, points in verdict.lost.items()),
        )
        for verdict in verdicts
    ]
    head = "fault", "code that …", "severity", "found by", "and others", "costs"
    title = f"# The {len(verdicts)} known faults"
    return "\n\n".join([title, "Written by `make docs`; see [the proof](README.md).", table(head, rows)]) + "\n"


def mutation_page(mutation: Mutation) -> str:
    """What mutation testing came to."""
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
        "Written by `make docs`. Small changes of the reference's solutions, made without knowledge of the field by "
        "the operators in `validity/mutation/operators.py`; each must fail a test of the task in whose solution it "
        "stands (or, in a part that pre-norm shares, of E.2). What is left must stand in "
        "`autograder/assignment/equivalents.toml` with the reason why it is right, or cannot be told from what "
        "is right.",
        "{} mutants: {} killed, {} equivalent, {} survivors.".format(*counts),
        table(("task", *head), rows),
        table(("operator", *head), operators),
        "## Equivalent mutants",
    ]
    for reason, names in reasons.items():
        parts.append(f"{reason[0].upper()}{reason[1:]}:")
        parts.append("\n".join(f"- `{name}`" for name in names))
    return "\n\n".join(parts) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown; columns without any content are left out."""
    rows = [list(map(str, row)) for row in rows]
    used = [index for index in range(len(head)) if any(row[index] for row in rows) or head[index]]
    lines = [[head[index] for index in used], ["---"] * len(used), *([row[index] for index in used] for row in rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _seeds(count: int) -> str:
    return "one seed" if count == 1 else f"{count} seeds"


def power(error: float, up: bool = True) -> str:
    """A power of ten not below (or not above) the error: stable where machines round differently."""
    if error == 0:
        return "0"
    if error == float("inf"):
        return "inf"
    exponent = int(f"{error:e}".split("e")[1])
    return f"1e{exponent + (up and float(f'1e{exponent}') != error):+03d}"


def progress_bar(total: int, what: str) -> tqdm:
    """A bar on a terminal, nothing elsewhere."""
    tqdm.monitor_interval = 0  # no thread: this process forks
    return tqdm(total=total, desc=what, unit="run", disable=None, leave=False)
