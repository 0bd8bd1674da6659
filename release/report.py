"""What `python -m release` prints: the table of gates, the summary, and the gates as JSON."""

import json
from collections.abc import Sequence

from .archives.packing import GRADESCOPE_ZIP, INSTRUCTOR_ZIP, STUDENT_ZIP, audience_of
from .build import MANIFEST, Release
from .gates.running import GateResult

_SHOWN_FAULTS = 20


def gate_table(results: Sequence[GateResult]) -> str:
    """A row for each gate: tick, time, what was looked at; the faults of failed gates below."""
    width = max(len(result.name) for result in results)
    lines = [f"{_tick(result)} {result.name:<{width}}  {_time(result.seconds)}  {result.summary}" for result in results]
    for result in results:
        if not result.has_passed:
            lines += ["", f"{_tick(result)} {result.name}"]
            lines += [f"    {fault}" for fault in result.faults[:_SHOWN_FAULTS]]
            rest = len(result.faults) - _SHOWN_FAULTS
            lines += [f"    and {rest} more"] if rest > 0 else []
    return "\n".join(lines)


def _time(seconds: float) -> str:
    """Empty for a gate whose time stands at the one that it shares its work with."""
    return f"{seconds:5.1f} s" if seconds else " " * 7


def _tick(result: GateResult) -> str:
    return "✓" if result.has_passed else "✗"


def gates_as_json(results: Sequence[GateResult]) -> str:
    """The results for programs."""
    rows = [
        {
            "name": result.name,
            "passed": result.has_passed,
            "seconds": round(result.seconds, 3),
            "summary": result.summary,
            "faults": list(result.faults),
        }
        for result in results
    ]
    return json.dumps({"passed": all(result.has_passed for result in results), "gates": rows}, indent=2)


def summary(release: Release, changed: Sequence[str], notes: Sequence[str], has_index: bool) -> str:
    """What was made, and what to do next.

    Args:
        release: what was built.
        changed: the files that were written or removed.
        notes: what in `student/` this release did not make.
        has_index: whether an index of CPU-only builds of PyTorch is set.
    """
    package = release.assignment.package
    n_regions = sum(len(found) for found in release.skeleton.regions.values())
    in_folder = [name for name in changed if name.startswith(f"{package}/")]
    lines = [
        "",
        f"made  {package}/            {len(release.folder)} files with {n_regions} TODOs"
        + (f", {len(in_folder)} of them changed" if in_folder else ", unchanged"),
        *(
            f"      dist/{name:<15} {len(release.outputs[f'dist/{name}']) / 1000:4.0f} kB, for {audience_of(name)}"
            for name in release.archives
        ),
        f"      dist/{MANIFEST}   versions and checksums",
        "",
        f"next  read {package}/README.md as a student would; docs/how-to/new-term.md has the details",
    ]
    if in_folder:
        lines.append(f"      commit {package}/: CI compares it with the reference")
    lines.append(f"      hand out dist/{STUDENT_ZIP}, upload dist/{GRADESCOPE_ZIP}, keep dist/{INSTRUCTOR_ZIP}")
    if not has_index:
        what = "Gradescope's image will get PyTorch's default build, which may be large"
        lines.append(f"note  {what}; for CPU-only builds: make release TORCH_INDEX=URL")
    lines += [f"note  {note}; left alone" for note in notes]
    return "\n".join(lines)
