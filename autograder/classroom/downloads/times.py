"""Times as platforms write them, and as nbgrader's own parser reads them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from dateutil import parser

LONGEST = 100
ZONED = re.compile(r"(?P<time>.*\d)\s*(?P<zone>[A-Za-z][\w/+:-]*|[+-]\d\d:?\d\d|(?<=\s)[+-]\d\d)", re.ASCII)
OFFSET = re.compile(r"(?:UTC|GMT)?(?P<sign>[+-])(?P<hours>\d\d?):?(?P<minutes>\d\d)?")
NAMES = {
    -8: "PST",
    -7: "MST PDT",
    -6: "CST MDT",
    -5: "EST CDT",
    -4: "EDT",
    0: "Z UT UTC GMT WET",
    1: "WEST BST CET",
    2: "CEST EET",
    3: "EEST",
}
"""Hours east of UTC, and the abbreviations that mean them; the American ones as in e-mail (RFC 5322)."""


def read_time(text: str) -> datetime | None:
    """A time, in UTC; without a zone it is UTC, as in nbgrader. None where no date, or a zone that nobody knows."""
    text = text.strip()
    if len(text) > LONGEST:
        return None
    try:
        found = ZONED.fullmatch(text)
        zone = zone_called(found["zone"]) if found else None
        when = found["time"] if found and zone else text
        defaults = datetime(2001, 1, 1), datetime(2002, 2, 2)  # noqa: DTZ001  the zone comes below
        first, second = (parser.parse(when, default=default, tzinfos=unknown_zone) for default in defaults)
        if first != second:  # a part of the date is missing
            return None
        time: datetime = first.replace(tzinfo=zone or first.tzinfo or UTC)
        return time.astimezone(UTC)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # it is a stranger's text
        return None


def zone_called(name: str) -> tzinfo | None:
    """The zone with a name such as `CET`, `Europe/Berlin`, `+0100`, `UTC+1`; None where there is none."""
    if found := OFFSET.fullmatch(name):
        east = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"] or 0))
        return timezone(-east if found["sign"] == "-" else east)
    for hours, names in NAMES.items():
        if name.upper() in names.split():
            return timezone(timedelta(hours=hours))
    try:
        return ZoneInfo(name)
    except (LookupError, OSError, ValueError):
        return None


def unknown_zone(name: str | None, offset: int | None) -> None:
    """Refuses a zone that only the parser's guess would make one."""
    if name or offset is not None:
        raise ValueError(name or offset)
