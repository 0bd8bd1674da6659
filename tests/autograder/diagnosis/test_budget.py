"""What is promised of the diagnosis is what it keeps to."""

from autograder.diagnosis.explaining import COMPARISONS, MOST_SECONDS
from foundation.places import ROOT


def test_the_page_tells_the_budget():
    page = (ROOT / "docs/explanation/diagnosis.md").read_text(encoding="utf-8")
    assert f"budget is {COMPARISONS:,} comparisons" in page and f"stopped after {MOST_SECONDS:g} s" in page
