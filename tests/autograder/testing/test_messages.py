"""What a task's message says: each reason once, with a count."""

from autograder.grading.explaining import explain_by_one
from autograder.testing.results import CHANGED, Outcome, State, explain


def failed(test: str, what: str, got: str, look_at: str = "", state: State = State.FAILED) -> Outcome:
    lines = [what, "  expected: 1 at [0]", f"  got:      {got}", *([f"  look at:  {look_at}"] if look_at else [])]
    return Outcome(test, state, "\n".join(lines))


MASKS = [failed(f"test_masks[{kind}]", f"weights, mask {kind}", "2", "True may attend") for kind in "abcd"]


def test_tests_with_one_hint_are_one_message_with_a_count():
    said = explain(MASKS, 9)
    assert said.startswith("5 of 9 tests pass.\n[test_masks[a] and 3 more for the same reason]\nweights, mask a\n")
    assert said.count("expected:") == 1


def test_without_a_hint_numbers_make_no_difference():
    alike = [failed(f"test_{n}", f"the shape of ({n}, 7)", f"({n}, -0.5e-3)") for n in (3, 4, 12)]
    other = failed("test_other", "the mean", "4")
    said = explain([*alike, other], 4)
    assert "[test_3 and 2 more for the same reason]" in said and "[test_other]" in said
    crashed = failed("test_crash", "the mean", "4", state=State.ERROR)
    assert explain([other, crashed], 4).count("[test_") == 2, "another state is another reason"


def test_what_is_left_out_is_counted():
    several = [failed(f"test_{n}", name, "4") for n, name in enumerate("abcdefg")]
    assert explain(several, 9).endswith("\n… and 3 tests more, for other reasons")
    assert explain(several[:5], 9).endswith("\n… and 1 test more, for other reasons")
    assert "run the tests" not in explain(several, 9)


def test_a_component_that_changes_its_arguments_is_told_so_first_and_alone():
    changed = failed("test_no_side_effects", "query after the call", f"{CHANGED} by layers.py, line 3: query /= 2")
    for order in ([*MASKS, changed], [changed, *MASKS]):
        said = explain(order, 9)
        assert said.startswith("4 of 9 tests pass.\n[test_no_side_effects]\nquery after the call\n")
        assert said.endswith("\n… and 4 tests more, perhaps for the same reason") and "True may attend" not in said


def test_one_known_reason_behind_all():
    assert explain_by_one(MASKS, 9).startswith("4 of 9 tests fail for this reason, test_masks[a] among them:\nweights")
    assert explain_by_one(MASKS, 4).startswith("All 4 tests fail for this reason, test_masks[a] among them:\n")
    assert explain_by_one(MASKS[:1], 9) == explain(MASKS[:1], 9)
