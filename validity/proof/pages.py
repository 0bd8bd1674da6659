"""The pages that `prove` writes for docs/proof. They hold no times or dates: they change only when a result does."""

from collections.abc import Sequence
from pathlib import Path

from foundation.whole_files import write_whole

from ..markdown import in_cell, table
from .confusion_matrix import blame_shares, draw_matrix, matrix_lines
from .margins import APART
from .reading_variants import Variant
from .result import Proof
from .verdicts import Verdict, by_component

PICTURE = "confusion.png"
TESTS = {
    "own": "the tests of the component's tasks (all tests on one fault in ten)",
    "all": "all tests",
}


def write_pages(proof: Proof, folder: Path) -> None:
    """Writes README.md, and where faults were tried their list and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    if proof.verdicts:
        draw_matrix(*blame_shares(proof.verdicts, proof.assignment), folder / PICTURE)
        write_whole(folder / "faults.md", faults_page(proof.verdicts))
    write_whole(folder / "README.md", proof_page(proof))


def proof_page(proof: Proof) -> str:
    """The proof's result as a page."""
    written = (
        "Written by `make proof`, or with fewer seeds by `python -m validity prove --output docs/proof`; "
        "`make prove` repeats the proof with one seed."
    )
    parts = ["# Proof of the component tests", written]
    if proof.verdicts:
        parts += faults_part(proof)
    if proof.variants:
        parts += variants_part(proof)
    return "\n\n".join([*parts, *tolerances_part(proof)]) + "\n"


def faults_part(proof: Proof) -> list[str]:
    """How many faults are found, and which tasks pay for them."""
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
        f"{len(proof.verdicts)} known faults ([list](faults.md)), each put into the reference on its own, with "
        f"{_seeds(proof.seeds)}: {killed} are found with every seed, and {right} cost points only in tasks of the "
        f"faulty component. The first seed runs {TESTS[proof.tests]}, the others only those of the "
        "component's tasks.",
        table(("component", "faults", "found", "right blame"), rows),
        "A fault in a part that post-norm and pre-norm (E.2) share costs points in both. A fault of pre-norm alone "
        "costs points only in E.2.",
        f"![Share of a component's faults that cost each task points]({PICTURE})",
        "\n".join(["```text", *matrix_lines(proof.verdicts, proof.assignment), "```"]),
    ]


def variants_part(proof: Proof) -> list[str]:
    """Which correct implementations pass."""
    rows = [(f"`{variant.name}`", variant.what.rstrip("."), _components(variant)) for variant in proof.variants]
    return [
        "## Correct code that looks different",
        f"{len(proof.variants)} variants and the reference with {_seeds(proof.variant_seeds)} (rewritings of the "
        f"reference's text with one seed); wrongly rejected: {len(proof.wrong)}.",
        table(("variant", "what is different", "where"), rows),
    ]


def _components(variant: Variant) -> str:
    if variant.is_same_code:
        return "everywhere"
    return ", ".join(f"`{component.split('.')[1]}`" for component in variant.components)


def tolerances_part(proof: Proof) -> list[str]:
    """The distances from the tolerances."""
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
    nearest_fault = f"the nearest fault is a factor {min(nearest):.0f} above" if nearest else "no fault was tried"
    widest = max((margin.correct / margin.tolerance for margin in proof.margins if margin.tolerance), default=0.0)
    return [
        "## Tolerances",
        f"Errors are in float64, relative to 1 + the size of the expected value. A tolerance is right if it is at "
        f"least a factor {APART} above the errors of correct code, and if each fault, with each seed, exceeds the "
        f"tolerance of some test by that factor (or fails otherwise than by a number). Here correct code stays a "
        f"factor {1 / widest if widest else float('inf'):.0f} or more below every tolerance; faults found by less "
        f"than a factor {APART}: {len(proof.close)}; in single tests {nearest_fault}. The table shows powers of ten, "
        "rounded towards the tolerance; `0` = never different. *Hidden* is the largest error of a fault that passes "
        "this test because it shows elsewhere (another test finds it).",
        table(("test", "correct code at most", "hidden at most", "tolerance", "faults from", ""), rows),
    ]


def faults_page(verdicts: Sequence[Verdict]) -> str:
    """Every fault with what finds it."""
    rows = [
        (
            f"`{verdict.fault.id}`",
            in_cell(verdict.fault.when),
            verdict.fault.severity,
            in_cell(verdict.killers[0]) if verdict.killers else "nothing",
            max(0, len(verdict.killers) - 1) or "",
            ", ".join(f"{number} (-{points:g})" for number, points in verdict.lost.items()),
        )
        for verdict in verdicts
    ]
    head = "fault", "code that …", "severity", "found by", "and others", "costs"
    title = f"# The {len(verdicts)} known faults"
    return "\n\n".join([title, "Written by `make proof`; see [the proof](README.md).", table(head, rows)]) + "\n"


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
