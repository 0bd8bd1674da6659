"""What handing in late costs; `[late]` in assignment.toml."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from .command_line import UserError
from .toml_tables import read_table

DAY = timedelta(days=1)


@dataclass(frozen=True)
class LatePolicy:
    """Late days and their price. It decides on what is shown, never on what is stored.

    Attributes:
        due: when submissions have to be in, with its time zone.
        grace_hours: within this time after `due`, nothing counts as late; beyond it, days count from `due` on.
        percent_per_day: of the points earned, for each day that has begun.
        most_percent: of the points earned, however late.
    """

    due: datetime
    grace_hours: float = 0.0
    percent_per_day: float = 10.0
    most_percent: float = 100.0

    def __post_init__(self) -> None:
        if not isinstance(self.due, datetime) or self.due.tzinfo is None:
            raise ValueError(f"due = {self.due!s}: expected a time with its zone, such as 2026-12-18T23:59:00+01:00")
        bounds = {"grace_hours": 10_000, "percent_per_day": 100, "most_percent": 100}
        for name, highest in bounds.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= highest:
                raise ValueError(f"{name} = {value!r}: expected a number from 0 to {highest}")

    def days_late(self, submitted: datetime) -> int:
        """Days after `due` that have begun; 0 within the grace.

        Args:
            submitted: without a zone, in that of `due`.
        """
        late = (submitted if submitted.tzinfo else submitted.replace(tzinfo=self.due.tzinfo)) - self.due
        return 0 if late <= timedelta(hours=self.grace_hours) else math.ceil(late / DAY)

    def percent(self, days: int) -> float:
        """What so many late days cost, in percent of the points earned."""
        return min(days * self.percent_per_day, self.most_percent)


def read_late(content: object) -> LatePolicy:
    """The policy in the table `[late]`."""
    table = read_table(content, [item.name for item in fields(LatePolicy)], "[late]")
    if "due" not in table:
        raise UserError("[late]: due is missing; write, for example, due = 2026-12-18T23:59:00+01:00")
    try:
        return LatePolicy(**table)
    except ValueError as error:
        raise UserError(f"[late] {error}") from None
