"""What students write, in one form: other names, order, layout and loops leave the same fingerprints."""

import random

import pytest

from autograder.classroom.similarity.one_form import LENGTH, OWN, WINDOW, fingerprints, in_one_form
from autograder.classroom.similarity.reading import answers_of, written_in
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
