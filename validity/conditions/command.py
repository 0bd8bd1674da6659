"""What `python -m validity prove --conditions` does."""

import argparse
import json

from autograder.assignment_code import conditions_of
from autograder.diagnosis.catalogue import CatalogueError
from autograder.testing.in_process import read_sources
from foundation.assignment_file import read_assignment
from foundation.whole_files import write_whole

from ..proof.prove import choose_faults
from .proof import try_pairs
from .report import as_data, as_page, report_lines
from .versions import all_pairs, sample

ENOUGH = 0.98
"""The share that must be found."""


def prove_conditions(options: argparse.Namespace) -> int:
    """The exit status.

    Raises:
        CatalogueError: where there is nothing to try, or a fault cannot be used.
    """
    assignment = read_assignment(options.assignment)
    conditions = conditions_of(assignment)
    if conditions is None:
        raise CatalogueError(f"{assignment.folder}: it has no proof/conditions/")
    wanted = options.condition or ""
    chosen = {name: condition for name, condition in conditions.CONDITIONS.items() if wanted in name}
    pairs = all_pairs(choose_faults(options, assignment), chosen)
    if not pairs:
        raise CatalogueError("nothing matches --component, --fault and --condition")
    count = len(pairs) if options.conditions == "all" else number(options.conditions)
    reference = read_sources(options.reference, options.reference)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    drawn = sample(pairs, count, options.first_seed)
    result = try_pairs(drawn, len(pairs), reference, assignment, seeds, options.jobs)
    if options.output is not None:
        write_whole(options.output / "conditions.md", as_page(result))
    print(json.dumps(as_data(result), indent=1) if options.json else "\n".join(report_lines(result, options.verbose)))
    return 0 if result.share >= ENOUGH and not result.wrongly_blamed else 1


def number(text: str) -> int:
    """How many pairs to try.

    Raises:
        CatalogueError: where the text is no such number.
    """
    if not text.isdecimal() or int(text) < 1:
        raise CatalogueError(f"--conditions {text}: expected a whole number of at least 1, or all")
    return int(text)
