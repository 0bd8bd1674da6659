"""Pairs that share more than chance explains, and pairs that share what everybody has."""

import random
import zlib

import pytest

from autograder.classroom.similarity.chance import chances_of
from autograder.classroom.similarity.matches import find_matches
from autograder.classroom.similarity.reading import Print, Written

COMPONENTS = [f"layers.Part{number}" for number in range(10)]


def independent(rng, n_ways=6):
    """Each component in one of some ways, with a few pieces of one's own."""
    return {
        name: {zlib.crc32(f"{name} {way} {piece}".encode()) for piece in range(8) for way in [rng.randrange(n_ways)]}
        | {rng.randrange(2**60) for _ in range(3)}
        for name in COMPONENTS
    }


def written(hashes):
    prints = {name: [Print(one, "layers", (n + 1,)) for n, one in enumerate(own)] for name, own in hashes.items()}
    return Written(prints, {"layers": ["x"] * 20})


@pytest.mark.parametrize("count", [12, 30, 100])
def test_a_copy_is_found_and_nobody_else(count):
    rng = random.Random(count)
    class_ = [independent(rng) for _ in range(count)]
    class_[3] = {name: set(rng.sample(sorted(own), 9)) for name, own in class_[7].items()}  # a tenth is lost
    findings = find_matches({str(n): written(one) for n, one in enumerate(class_)})
    assert [(pair.left, pair.right) for pair in findings.pairs] == [("3", "7")]
    assert findings.groups == () and len(findings.compared) == count


def test_a_copy_is_not_thinned_and_its_places_are_named():
    """By code that is added to it."""
    rng = random.Random(1)
    class_ = [independent(rng) for _ in range(40)]
    class_[0] = {name: own | {rng.randrange(2**60) for _ in range(50)} for name, own in class_[1].items()}
    [pair] = find_matches(dict(enumerate(map(written, class_)))).pairs
    assert (pair.left, pair.right) == (0, 1) and pair.expected < 0.2
    assert [match.component for match in pair.matches if match.others[0] == 0]
    assert {place.module for match in pair.matches for place in match.left + match.right} == {"layers"}
    assert all(match.one_in >= 1 for match in pair.matches)


def test_what_everybody_has_says_nothing():
    class_ = [
        {name: {zlib.crc32(f"{name} {piece}".encode()) for piece in range(9)} for name in COMPONENTS} for _ in range(30)
    ]
    chances = chances_of(class_)
    assert not any(one.any() for one in chances.surprise.values())
    assert find_matches(dict(enumerate(map(written, class_)))).pairs == ()


def test_three_with_one_source_are_a_group():
    rng = random.Random(2)
    class_ = [independent(rng) for _ in range(40)]
    class_[5] = class_[20] = class_[30]
    findings = find_matches({str(n): written(one) for n, one in enumerate(class_)})
    assert len(findings.pairs) == 3 and findings.groups == (("20", "30", "5"),)
