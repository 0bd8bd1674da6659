"""Dropout of whole vectors, sentences or positions is found in layers that write parts out, too."""

import pytest

from foundation.places import ASSIGNMENT
from validity.run_tests import Version, run_versions
from validity.variants import read_variants

pytestmark = pytest.mark.slow

DROPS = {
    "whole sublayers": "out * self.dropout(torch.ones(1, 1, 1, dtype=out.dtype))",
    "whole positions": "out * self.dropout(torch.ones_like(out[..., :1]))",
    "a feature of all positions": "out * self.dropout(torch.ones_like(out[:, :1]))",
    "an entry of all sentences": "out * self.dropout(torch.ones_like(out[:1]))",
}
LAYERS = ("inline_attention", "inline_feed_forward", "norm_as_default", "decoder_all_inline")


def test_dropout_of_more_than_single_entries_costs_its_item(assignment, reference):
    variants = {
        one.name: one for one in read_variants(ASSIGNMENT / "proof" / "variants", reference, assignment.contract)
    }
    versions = []
    for name in LAYERS:
        path, text = variants[name].sources["layers"]
        assert text.count("self.dropout(out)") == 1
        for drop, code in DROPS.items():
            sources = {**variants[name].sources, "layers": (path, text.replace("self.dropout(out)", code))}
            versions.append(Version(f"{name}: {drop}", sources, [0], ("task_2_1", "task_2_2")))
    missed = {
        run.version: {outcome.item for ends in run.outcomes.values() for outcome in ends if outcome.state == "failed"}
        for run in run_versions(versions, reference, assignment)
    }
    assert missed == {version.name: {"dropout"} for version in versions}
