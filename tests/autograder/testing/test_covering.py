"""Covering arrays: every pair occurs, no level is forgotten, and gradings differ."""

from collections import Counter
from itertools import combinations

from autograder.testing.case import Case
from autograder.testing.covering import Covering, Either, Occurring

FACTORS = {"a": range(5), "b": "wxyz", "c": (True, False), "d": range(3), "e": range(3)}


def test_every_pair_occurs_in_each_grading():
    for seed in range(5):
        rows = Covering(FACTORS).rows(Case(seed, "test"))
        for one, other in combinations(FACTORS, 2):
            met = {(row[one], row[other]) for row in rows}
            assert met == {(x, y) for x in FACTORS[one] for y in FACTORS[other]}, (one, other)
        assert len(rows) < 30


def test_levels_occur_about_equally_often():
    rows = Covering(FACTORS).rows(Case(0, "test"))
    counts = [sum(row["c"] is value for row in rows) for value in (True, False)]
    assert min(counts) * 2 >= max(counts)


def test_gradings_differ_and_can_be_repeated():
    covering = Covering(FACTORS)
    assert covering.rows(Case(1, "test")) == covering.rows(Case(1, "test")) != covering.rows(Case(2, "test"))


def test_further_rows_are_completed():
    rows = Covering(FACTORS, [{"a": "more"}, {"b": "more", "c": True}]).rows(Case(3, "test"))
    assert all(row.keys() == FACTORS.keys() for row in rows)
    assert sum(row["a"] == "more" for row in rows) == 1 == sum(row["b"] == "more" and row["c"] for row in rows)


def test_alternatives_count_as_one_level_and_occur_in_turn():
    for seed in range(5):
        rows = Covering(FACTORS | {"f": (1, Either(2, 3), Either(4, 5, 6))}).rows(Case(seed, "test"))
        counts = Counter(row["f"] for row in rows)
        assert counts.keys() == {1, 2, 3, 4, 5, 6}
        assert abs(counts[2] - counts[3]) <= 1 and max(counts[4], counts[5], counts[6]) - min(counts[4], counts[6]) <= 1
        assert {(row["a"], row["f"] in (2, 3)) for row in rows} == {
            (a, is_it) for a in range(5) for is_it in (True, False)
        }


def test_each_level_may_occur_without_each_pair():
    for seed in range(5):
        rows = Occurring(FACTORS, [{"a": "more"}]).rows(Case(seed, "test"))
        assert len(rows) == 11
        assert all(min(Counter(row[name] for row in rows if row["a"] != "more").values()) >= 2 for name in FACTORS)
