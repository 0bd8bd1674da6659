"""Faults are found in code that looks unlike the reference, too: parts written out, projections fused or split."""

import pytest

from autograder.grading.marks import tests_of as results_of
from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT
from validity.proof.reading_variants import splice
from validity.run_tests import Version, run_versions

FAULTS = {
    ("layers", "all_inline", "2.1"): {
        "no scale": (" / math.sqrt(q.size(-1))", ""),
        "tanh": (".relu())), self.gain2", ".tanh())), self.gain2"),
        "no first residual": ("self.norm(x + self.drop(y), self.gain1", "self.norm(self.drop(y), self.gain1"),
        "no second residual": ("self.norm(x + self.drop(self.ff2", "self.norm(self.drop(self.ff2"),
        "sample variance": ("unbiased=False", "unbiased=True"),
        "squared gain": (" * gain + shift", " * gain**2 + shift"),
        "epsilon": ("var + 1e-6", "var + 1e-2"),
        "always pre-norm": ("if self.norm_first:", "if True:"),
        "key as value": ("(weights @ v)", "(weights @ k)"),
        "one norm twice": ("self.gain2, self.shift2)", "self.gain1, self.shift1)"),
        "no second norm": (".relu())), self.gain2, self.shift2)", ".relu())), self.gain2, self.shift2) * 0 + x"),
    },
    ("layers", "inline_attention", "2.1"): {
        "query as key": ("(q, k, v, mask)", "(q, q, v, mask)"),
        "no output projection": ("self.out(context.transpose(1, 2).flatten(2))", "context.transpose(1, 2).flatten(2)"),
        "heads not joined in order": ("context.transpose(1, 2).flatten(2)", "context.reshape(x.shape)"),
        "no mask": ("(q, k, v, mask)", "(q, k, v)"),
        "no residual": ("self.norm1(x + self.dropout(y))", "self.norm1(self.dropout(y))"),
    },
    ("layers", "decoder_all_inline", "2.2"): {
        "no scale": (" / math.sqrt(q.size(-1))", ""),
        "masks swapped": ("(self.own, y, y, tgt_mask)", "(self.own, y, y, None)"),
        "no question to the source": ("(self.cross, y, memory, src_mask)", "(self.cross, y, y, None)"),
        "order": ("(look, ask, think)", "(look, think, ask)"),
        "residual": ("x = x + nn.functional", "x = nn.functional"),
        "no relu": (".relu()", ""),
        "shift twice": ("self.gains[number] + self.shifts[number]", "self.gains[number] + 2 * self.shifts[number]"),
    },
    ("attention", "output_by_head", "1.3"): {
        "tripled": ("), weights", ") * 3, weights"),
        "one head for all": ("layer(context[:, head])", "layer(context[:, 0])"),
    },
    ("attention", "innermost", "1.3"): {
        "query for all": ("enumerate((query, key, value))", "enumerate((query, query, value))"),
        "roles swapped": (".select(-1, role)", ".select(-1, 0)"),
        "joined unlike split": ("context.transpose(1, 2).flatten(2)", "context.reshape(query.shape)"),
    },
    ("attention", "fused_heads", "1.3"): {
        "first head for all": ("[head(x).chunk", "[self.heads[0](x).chunk"),
        "key as value": ("[role] for head", "[min(role, 1)] for head"),
    },
    ("attention", "raw_by_head_and_role", "1.3"): {
        "key as value": ("self.into[:, role]", "self.into[:, min(role, 1)]"),
        "mean of heads": (".sum(dim=1), weights", ".mean(dim=1), weights"),
    },
}  # fmt: skip
CASES = [(*where, name) for where, faults in FAULTS.items() for name in faults]


@pytest.fixture(scope="module")
def lost(reference, assignment, sampled):
    """Points that each version loses in its task, by seed."""
    seeds = sampled(range(3), 3)

    def version(module, variant, task, name):
        path = ASSIGNMENT / "proof" / "variants" / module / f"{variant}.py"
        old, new = FAULTS[module, variant, task][name]
        text = path.read_text()
        assert old in text, f"{variant}: {old}"
        spliced, _ = splice(reference[module][1], text.replace(old, new), path)
        marker = next(one.marker for one in assignment.tasks if one.number == task)
        return Version(f"{variant} {name}", {**reference, module: (f"{module}.py", spliced)}, seeds, (marker,))

    found = {}

    def keep(run):
        [result] = [one for one in results_of(assignment, run.outcomes) if one.task.marker in run.outcomes]
        found.setdefault(run.version, []).append((result.state, result.task.points - result.score))

    run_versions([version(*case) for case in CASES], reference, read_assignment(), keep)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("variant, name", [(variant, name) for _, variant, _, name in CASES])
def test_a_fault_costs_points_in_any_layout(lost, variant, name):
    for state, points in lost[f"{variant} {name}"]:
        assert state != "passed" and points > 0
