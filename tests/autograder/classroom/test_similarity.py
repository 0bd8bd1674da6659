"""Statements without their author's names, and which pairs of a class have much in common."""

import random

import pytest

from autograder.classroom.similarity.matches import find_matches
from autograder.classroom.similarity.reading import Found, Written, mistakes_in, written_in
from autograder.intake import Intake
from foundation.assignment_file import read_assignment

CONTRACT = read_assignment().contract


def written(text, given=frozenset()):
    return written_in(Intake("x", {"layers": ("layers.py", text)}, frozenset({"layers"})), CONTRACT, given)


def statements(body):
    text = "import torch\nimport torch.nn.functional as F\ndef FeedForward(x, n):\n"
    return {one.text for one in written(text + "".join(f"    {line}\n" for line in body.split("\n"))).statements}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a = x.relu()\nb = n.exp()\nreturn a, b", "q = n.exp()\np = x.relu()\nreturn p, q"),
        ("return torch.relu(x) * n", '"""What."""\nreturn (F.relu(\n    x,  # the input\n) * n)'),
        ("y: int = x\nfor one in y:\n    print(one)", "for z in x:\n  print(z)\nz = x"),
    ],
    ids=["order", "layout", "names and annotations"],
)
def test_the_same_in_other_words(first, second):
    assert statements(first) == statements(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("return x @ n", "return n @ x @ n"),
        ("return x - 1", "return 1 - x"),
        ("return torch.softmax(x, -1)", "return torch.softmax(x, -2)"),
        ("if x:\n    return n", "while x:\n    return n"),
    ],
)
def test_what_differs_stays_different(first, second):
    assert statements(first) != statements(second)


def test_given_code_is_no_answer():
    """Nor is given code with other names."""
    release = "class LayerNorm:\n    def forward(self, x):\n"
    release += "        if self.d:\n            raise NotImplementedError\n        return x\n"
    given = frozenset(one.text for one in written(release).statements)
    assert given and not written(release.replace("x", "inputs"), given).statements
    own = release.replace("return x", "return x * self.gain") + "def helper(x):\n    return x + 1\n"
    found = written(own, given).statements
    assert [(one.component, one.lines) for one in found] == [("layers.LayerNorm", (5,)), ("layers: other code", (7,))]


def independent(rng, n_ways=6):
    """Ten components, each in one of some ways with ten statements, and thirty statements of one's own."""
    ways = [10 * (100 * part + rng.randrange(n_ways)) for part in range(10)]
    return {way + n for way in ways for n in range(10)} | {rng.randrange(10**6, 10**9) for _ in range(30)}


def class_of(texts):
    return {
        f"s{n}": Written([Found("layers.LayerNorm", one, "layers", (one % 20 + 1,)) for one in sorted(own)])
        for n, own in enumerate(texts)
    }


@pytest.mark.parametrize("count", [12, 30, 100])
def test_a_copy_is_found_and_nobody_else(count):
    """Though a tenth of it is changed, and much added."""
    rng = random.Random(count)
    class_ = [independent(rng) for _ in range(count)]
    class_[3] = set(rng.sample(sorted(class_[7]), 117)) | {rng.randrange(10**9, 10**12) for _ in range(300)}
    findings = find_matches(class_of(class_))
    [pair] = findings.pairs
    assert (pair.left, pair.right) == ("s3", "s7") and 0.8 < pair.share < 1
    assert [(one.component, one.left[0].module) for one in pair.matches] == [("layers.LayerNorm", "layers")]
    assert len(findings.compared) == count


def test_what_everybody_has_and_a_few_equal_lines_say_nothing():
    assert not find_matches(class_of([set(range(100))] * 30)).pairs
    assert not find_matches(class_of([{1, 2, 3}, {1, 2, 3}])).pairs


LINES = 300


@pytest.fixture
def models():
    """References, and 30 models: each gets some sentences right, and makes some mistakes that others make."""
    rng = random.Random(1)
    references, wrong = ([[f"w{rng.randrange(400)}" for _ in range(8)] for _ in range(LINES)] for _ in range(2))

    def model():
        for right, other in zip(references, wrong, strict=True):
            yield " ".join(rng.choice((right, other, [f"w{rng.randrange(400)}" for _ in range(8)])))

    return [" ".join(line) for line in references], {f"s{n}": [*model()] for n in range(30)}


def same(references, files):
    class_ = {
        key: Written(mistakes=mistakes_in("\n".join([*lines, ""]).encode(), references)) for key, lines in files.items()
    }
    return find_matches(class_).same_translations


def test_files_with_the_same_mistakes_are_one_group(models):
    """Punctuation, and some changed words, hide nothing; those who have few mistakes have them by luck."""
    references, files = models
    assert same(references, files) == ()
    files["s5"], files["s2"] = files["s9"], [f"{line} !" for line in files["s1"]]
    files["s7"] = [line if n % 3 else f"changed {line}" for n, line in enumerate(files["s9"])]
    files["s3"] = files["s4"] = [*references[:-1], "another line"]
    assert same(references, files) == (("s5", "s7", "s9"), ("s1", "s2"))


def test_what_is_no_file_of_translations_is_not_compared():
    assert mistakes_in(None, ["a"]) == mistakes_in(b"a\nb\n", ["a"]) == mistakes_in(b"b\n", []) == frozenset()
