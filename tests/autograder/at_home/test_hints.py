"""Hints from the patterns of failing tests."""

import pytest

from autograder.at_home import hints
from autograder.at_home.hints import count_attempt, fitting, is_rounding, pattern_of, read_hints, tell
from autograder.course.catalogue import faults_of, read_patterns
from autograder.testing.results import Outcome, State
from foundation.command_line import UserError
from foundation.places import ROOT
from release.contents import hints_of
from validity.hints import patterns_of


def failed(test: str, got: str, look_at: str = "which axis?", state: State = State.FAILED) -> Outcome:
    return Outcome(
        test, state, f"x\n  inputs:   x (2, 3)\n  expected: 1 at [0]\n  got:      {got}\n  look at:  {look_at}"
    )


FIRST = [failed("test_a[float64]", "0.5"), failed("test_a[float32]", "0.5"), Outcome("test_b", State.PASSED)]


@pytest.mark.parametrize(
    "other, is_same",
    [
        (FIRST[::-1], True),
        ([failed("test_a[float64]", "0.500001"), *FIRST[1:]], True),
        ([FIRST[0], failed("test_a[float32]", "0.7"), FIRST[2]], True),
        ([failed("test_a[float64]", "0.51"), *FIRST[1:]], False),
        ([failed("test_a[float64]", "0.5", "which mask?"), *FIRST[1:]], True),
        ([failed("test_a[float64]", "shape (0.5,)"), *FIRST[1:]], False),
    ],
)
def test_a_pattern_is_of_tests_and_what_they_got_without_rounding(other, is_same):
    assert (pattern_of(FIRST) == pattern_of(other)) == is_same


@pytest.mark.parametrize(
    "known, seen, expected",
    [
        ([("A", "abcde"), ("B", "fghij")], "abcd", ["A"]),
        ([("A", "abcde"), ("B", "fghij")], "abc", []),
        ([("A", "abcde"), ("B", "abcdefg")], "abcde", ["A"]),
        ([("A", "ab"), ("B", "ab"), ("A", "ab")], "ab", ["A", "B"]),
        ([], "ab", []),
    ],
)
def test_hints_that_fit(known, seen, expected):
    assert fitting([(hint, frozenset(pattern)) for hint, pattern in known], frozenset(seen)) == expected


def test_each_version_of_an_answer_is_one_attempt(tmp_path, assignment):
    task, other = assignment.tasks[0], assignment.tasks[1]
    path = tmp_path / ".attempts.json"

    def note(text: str, of: object = task) -> int:
        return count_attempt(path, of, {"embedding": ("embedding.py", text), "attention": ("attention.py", text)})

    assert [note("a"), note("a"), note("b"), note("a"), note("c"), note("c", other)] == [1, 1, 2, 2, 3, 1]
    for damaged in ("[", "[1]", "3", '{"1.1": 3}', "\xff"):
        path.write_text(damaged, encoding="latin-1")
        assert note("d") == 1, damaged


@pytest.mark.parametrize(
    "text, ended, message",
    [
        ("\ndef attention(:\n", [], "attention.py, line 2: this is not Python: invalid syntax"),
        ("", [], "the tests of 1.2 are handed out later, and the hints with them"),
        ("", [Outcome("test_a", State.PASSED)], "1.2 Scaled dot-product attention: 1 of 1 tests pass"),
        ("", [Outcome("test_a", State.NOT_ATTEMPTED)], "something is still to be written; a hint needs a whole answer"),
    ],
)
def test_what_has_no_hint_is_no_attempt(tmp_path, monkeypatch, capsys, text, ended, message):
    (folder := tmp_path / "student").mkdir()
    (folder / "attention.py").write_text(text)
    monkeypatch.setattr(hints, "released_folder", lambda: folder)
    monkeypatch.setattr(hints, "hints_for", lambda *given: ([], ended))
    assert hints.give("1.2") == int("1 of 1" not in message)
    assert capsys.readouterr().out.endswith(f"{message}\n") and not (tmp_path / hints.ATTEMPTS).exists()


def test_own_tests_have_no_hints():
    with pytest.raises(UserError, match=r"there are no hints for 'E.4': expected one of 1.1, .* E.3$"):
        hints.give("E.4")


def test_a_hint_takes_some_attempts():
    [line] = tell(["Which axis?"], 2, 3)
    assert line.startswith("failed attempts: 2; after 3 there may be a hint (each version of your code")
    assert tell(["Which axis?"], 3, 3) == ["Hint: Which axis?"]
    assert tell([], 3, 3) == ["no known mistake fits what the tests see"]
    [line] = tell([], 3, 3, "TypeError: sqrt()")
    assert line == "no known mistake fits what the tests see, which is an error in your code: TypeError: sqrt()"


def test_where_all_that_differs_is_rounding_no_hint_is_due():
    assert is_rounding([failed("test_a", "1.00002; 3 of 4 values differ"), Outcome("test_b", State.PASSED)])
    assert not is_rounding([failed("test_a", "1.00002; 3 of 4 values differ"), failed("test_b", "1.2; 1 of 4 values")])
    assert not is_rounding([failed("test_a", "shape (1,)")]) and not is_rounding([Outcome("test_b", State.PASSED)])


def test_every_fault_has_a_pattern_and_students_get_it_without_its_name(tmp_path, assignment):
    faults, patterns = faults_of(assignment), read_patterns(assignment)
    missing = [fault.id for fault in faults if fault.id not in patterns]
    assert not missing, "python -m validity hints --fault ID"
    (tmp_path / hints.HINTS).write_bytes(hints_of(ROOT, assignment)[f"assignment/{hints.HINTS}"])
    known = read_hints(tmp_path)
    assert {task: [hint for hint, _ in several] for task, several in known.items()} == {
        task: [fault.hint for fault in faults if fault.task == task] for task in dict.fromkeys(f.task for f in faults)
    }
    assert not any(fault.id in str(known) or fault.when in str(known) for fault in faults)
    assert read_hints(ROOT / "no such folder") == {}


@pytest.mark.slow
def test_patterns_are_those_of_the_present_tests(assignment, sampled):
    faults = sampled({fault.task: fault for fault in faults_of(assignment)}.values(), 2)
    known = read_patterns(assignment)
    now = patterns_of(faults, assignment)
    changed = [fault.id for fault in faults if now[fault.id] != known[fault.id]]
    assert not changed, "python -m validity hints"
