"""How many faults the diagnosis recognised: for the terminal and as a page."""

from collections.abc import Sequence

from ..markdown import table
from .recognition import Row, share, share_alone


def as_text(rows: Sequence[Row]) -> str:
    """The faults that were missed, and the shares by layout."""
    lines = [
        f"{row.layout:<9} {row.fault}: {row.named or ('nothing was named' if row.is_found else 'no test failed')}"
        for row in rows
        if not row.is_right
    ]
    for layout in dict.fromkeys(row.layout for row in rows):
        own = [row for row in rows if row.layout == layout]
        lines.append(f"{layout:<9} {sum(row.is_right for row in own)} of {len(own)} recognised ({share(own):.1%})")
    lines += [f"{row.layout:<9} {row.fault}: {problem}" for row in rows for problem in row.problems]
    seconds = sorted(row.cpu_seconds for row in rows)
    lines.append(f"all       {share(rows):.1%}, {share_alone(rows):.1%} with nothing else in the group")
    lines.append(f"CPU of a diagnosis: median {seconds[len(seconds) // 2]:.2f} s, most {seconds[-1]:.2f} s")
    return "\n".join(lines)


def as_markdown(rows: Sequence[Row]) -> str:
    """A table by component and layout, and the faults that were missed."""
    layouts = list(dict.fromkeys(row.layout for row in rows))
    lines: list[tuple[object, ...]] = []
    for component in dict.fromkeys(row.component for row in rows):
        own = [row for row in rows if row.component == component]
        cells = [sum(r.is_right for r in own if r.layout == layout) for layout in layouts]
        lines.append((f"`{component}`", len(own) // len(layouts), *cells))
    totals = [f"{share([r for r in rows if r.layout == layout]):.1%}" for layout in layouts]
    lines.append(("all", len(rows) // len(layouts), *totals))
    missed = [f"- `{r.fault}` ({r.layout}): {r.named or 'nothing named'}" for r in rows if not r.is_right]
    return "\n".join([table(("component", "faults", *layouts), lines), "", "Not recognised:", "", *missed]) + "\n"
