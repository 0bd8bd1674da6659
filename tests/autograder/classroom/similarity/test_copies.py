"""Code in one form, and which pairs of a class share more of it than chance explains."""

import random
import zlib

import pytest

from autograder.classroom.similarity.chance import chances_of
from autograder.classroom.similarity.matches import find_matches
from autograder.classroom.similarity.one_form import LENGTH, OWN, WINDOW, fingerprints, in_one_form
from autograder.classroom.similarity.reading import Print, Written, answers_of, written_in
from autograder.intake import Intake
from foundation.assignment_file import read_assignment

CONTRACT = read_assignment().contract


def intake_of(text):
    return Intake("x", {"layers": ("layers.py", text)}, frozenset({"layers"}))


def tokens_of(text):
    """The tokens of each answer, own names by the order in which they come."""
    found = {}
    for answer in answers_of(intake_of(text), CONTRACT):
        order = {}
        tokens = answer.reader.read(in_one_form(answer.body, answer.reader.nameless))[0]
        found.setdefault(answer.component, []).append(
            [order.setdefault(one, len(order)) if one.startswith(OWN) else one for one in tokens]
        )
    return found


def function(body):
    return "import torch\ndef FeedForward(x, n):\n" + "\n".join(f"    {line}" for line in body.split("\n"))


LOOP = "found = []\nfor layer in x:\n    found.append(layer(n))\nreturn torch.cat(found)"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (LOOP, "return torch.cat([one(n) for one in x])"),
        (LOOP, "all_of_them = list()\nfor a in x:\n    all_of_them += [a(n)]\nreturn torch.cat(all_of_them)"),
        ("a = x.relu()\nb = n.exp()\nreturn a, b, a, b", "q, p = n.exp(), x.relu()\nreturn p, q, p, q"),
        ("return torch.relu(x) * n", '"""What."""\nprint(x)\nreturn (torch.relu(\n    x,  # the input\n) * n)'),
        ("y: int = x\nreturn y", "z = x\nreturn z"),
    ],
    ids=["comprehension", "other loop", "order", "layout", "another name"],
)
def test_the_same_in_other_words(first, second):
    assert tokens_of(function(first)) == tokens_of(function(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("return x @ n", "return n @ x @ n"),
        ("return x - 1", "return 1 - x"),
        ("return torch.softmax(x, -1)", "return torch.softmax(x, -2)"),
        ("y = x.mul_(2)\nx = n\nreturn x, y, x, y", "x = n\ny = x.mul_(2)\nreturn x, y, x, y"),
    ],
)
def test_what_differs_stays_different(first, second):
    assert tokens_of(function(first)) != tokens_of(function(second))


def test_given_code_is_no_answer():
    """Nor is given code with other names."""
    release = (
        "class LayerNorm:\n    def __init__(self, d):\n        self.d = d\n        raise NotImplementedError\n"
        "    def forward(self, x):\n        if self.d:\n            raise NotImplementedError\n        return x\n"
    )
    [*given] = written_in(intake_of(release), CONTRACT, frozenset()).prints["layers.LayerNorm"]
    given = frozenset(one.hash for one in given)

    def answered(text):
        return {name: len(prints) for name, prints in written_in(intake_of(text), CONTRACT, given).prints.items()}

    assert answered(release) == answered(release.replace("x", "inputs")) == {}
    own = release.replace("        raise NotImplementedError\n    def", "        self.gain = d\n    def")
    own += "def helper(x):\n    return x + 1\n"
    assert answered(own) == {"layers.LayerNorm": 1, "layers: other code": 1}


@pytest.mark.parametrize("seed", range(5))
def test_what_two_texts_share_leaves_a_fingerprint_in_both(seed):
    rng = random.Random(seed)
    shared = [str(rng.random()) for _ in range(LENGTH + WINDOW - 1)]
    first, second = ([str(rng.random()) for _ in range(rng.randrange(60))] for _ in range(2))
    texts = [first + shared + second, second + shared, shared + first]
    hashes = [{found for _, found in fingerprints(text)} for text in texts]
    assert set.intersection(*hashes)
    if first and second:
        assert not {found for _, found in fingerprints(first)} & {found for _, found in fingerprints(second)}


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
