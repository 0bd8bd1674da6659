"""Faults are found in code that looks unlike the reference, too: parts written out, projections fused or split."""

import pytest

from foundation.places import ASSIGNMENT
from validity.run_tests import Version, finds_fault, run_versions
from validity.variants import read_cells, splice

FAULTS = {
    ("all_inline", "2.1"): {
        "no scale": (" / math.sqrt(q.size(-1))", ""),
        "no first residual": ("x = x + self.dropout(out)", "x = self.dropout(out) + (x if number else 0)"),
        "one norm twice": ("else (self.gain2, self.shift2)", "else (self.gain1, self.shift1)"),
    },
    ("inline_attention", "2.1"): {
        "query as key": ("(q, k, v, mask)", "(q, q, v, mask)"),
        "heads not joined in order": ("context.transpose(1, 2).flatten(2)", "context.reshape(y.shape)"),
    },
    ("decoder_all_inline", "2.2"): {
        "masks swapped": ("(self.own, y, y, tgt_mask)", "(self.own, y, y, None)"),
        "no question to the source": ("(self.cross, y, memory, src_mask)", "(self.cross, y, y, None)"),
        "no relu": (".relu()", ""),
    },
    ("output_by_head", "1.3"): {"one head for all": ("layer(parts[head])", "layer(parts[0])")},
    ("innermost", "1.3"): {
        "joined unlike split": ("context.transpose(1, 2).flatten(2)", "context.reshape(query.shape)")
    },
    ("fused_heads", "1.3"): {"key as value": ("[role] for head", "[min(role, 1)] for head")},
    ("raw_by_head_and_role", "1.3"): {"mean of heads": (".sum(dim=1)", ".mean(dim=1)")},
}


@pytest.mark.slow
def test_a_fault_costs_points_in_any_layout(reference, assignment):
    markers = {task.number: task.marker for task in assignment.tasks}
    cells = {c.name: c for path in (ASSIGNMENT / "proof" / "variants").glob("*.py") for c in read_cells(path)}
    versions = []
    for (name, task), faults in FAULTS.items():
        for what, (old, new) in faults.items():
            cell = cells[name]
            assert old in cell.text, f"{name}: {old}"
            spliced, _ = splice(reference[cell.module][1], cell.text.replace(old, new), cell.path)
            sources = {**reference, cell.module: (f"{cell.module}.py", spliced)}
            versions.append(Version(f"{name}, {what}", sources, [0], (markers[task],), until_failure=True))
    runs = [*run_versions(versions, reference, assignment)]
    missed = [run.version for run in runs if not finds_fault(one for some in run.outcomes.values() for one in some)]
    assert len(runs) == len(versions) and not missed
