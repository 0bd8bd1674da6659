"""The limits of one submission."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .command_line import UserError
from .toml_tables import read_table


@dataclass(frozen=True)
class Limits:
    """What one submission may use; the keys of `[limits]` in assignment.toml, which alone holds the values.

    Attributes:
        call_seconds: wall time of a single call.
        total_seconds: wall time of all calls together; starting a worker is not counted.
        cpu_seconds: CPU time of all its workers together.
        memory_mb: address space on top of the libraries, in MiB.
        gradescope_memory_mb: the same in Gradescope's container, where the grader and the libraries need up to 620 MB.
        output_kb: what is kept of stdout and stderr together, in KiB.
        failures_a_component: after this many timeouts or crashes the component is skipped.
    """

    call_seconds: float
    total_seconds: float
    cpu_seconds: int
    memory_mb: int
    gradescope_memory_mb: int
    output_kb: int
    failures_a_component: int

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            kind, expected = (int, "a whole number") if item.type == "int" else (int | float, "a number")
            if isinstance(value, bool) or not isinstance(value, kind) or not 0 < value < 1e9:
                raise ValueError(f"{item.name} = {value!r}: expected {expected} above 0")


def read_limits(content: object) -> Limits:
    """The limits in the table `[limits]`, which has all of them."""
    keys = [item.name for item in fields(Limits)]
    table = read_table(content, keys, "[limits]")
    if missing := [key for key in keys if key not in table]:
        raise UserError(f"[limits]: expected every limit; missing: {', '.join(missing)}")
    try:
        return Limits(**table)
    except ValueError as error:
        raise UserError(f"[limits] {error}") from None
