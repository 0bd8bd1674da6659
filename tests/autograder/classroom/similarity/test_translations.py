"""Translations that are the references, or another student's."""

import random

import pytest

from autograder.classroom.similarity.translations import compare_translations, translated

LINES = 300


def words(rng, n):
    return [f"w{rng.randrange(400)}" for _ in range(n)]


@pytest.fixture
def class_():
    """References, and 30 models that differ: each gets the easy sentences right, and few of the others."""
    rng = random.Random(1)
    references = [words(rng, 8) for _ in range(LINES)]
    ease = [rng.random() ** 2 for _ in range(LINES)]
    wrong = [words(rng, 8) for _ in range(LINES)]

    def model():
        lines = []
        for right, other, easy in zip(references, wrong, ease, strict=True):
            same_mistake = other if rng.random() < 0.3 else words(rng, 8)
            lines.append(" ".join(right if rng.random() < easy else same_mistake))
        return lines

    return [" ".join(line) for line in references], {f"s{n}": model() for n in range(30)}


def found(references, files):
    content = {key: translated("\n".join([*lines, ""]).encode(), references) for key, lines in files.items()}
    assert all(content.values())
    return compare_translations(content, 0.01)


def ease(files, number, right):
    """The share of a class that has a line right."""
    return sum(lines[number] == right for lines in files.values()) / len(files)


def test_independent_models_are_not_named_also_a_better_one(class_):
    """It gets more of the hard sentences right, as it gets more of all others right."""
    references, files = class_
    rng = random.Random(3)
    findings = found(references, files)
    assert findings.compared == 30 and not findings.same and not findings.close_to_references
    for key in ("s3", "s8"):
        files[key] = [
            right if own == right or rng.random() < 0.7 * ease(files, n, right) else own
            for n, (right, own) in enumerate(zip(references, files[key], strict=True))
        ]
    findings = found(references, files)
    assert not findings.close_to_references and not findings.same


def test_the_references_are_pointed_out(class_):
    references, files = class_
    files["s3"] = [line if n % 10 else "w1 w2" for n, line in enumerate(references)]
    close = found(references, files).close_to_references
    assert close.keys() == {"s3"} and "is above 0.75, more than a model of this assignment gives" in close["s3"]


@pytest.mark.parametrize("share, halves", [(0.3, False), (0.5, True)])
def test_references_mixed_into_a_models_output_are_pointed_out(class_, share, halves):
    references, files = class_
    rng = random.Random(4)

    def mixed(right, own):
        if not halves:
            return right if rng.random() < share else own
        (a, b), (c, d) = ((line.split()[:4], line.split()[4:]) for line in (right, own))
        return " ".join((a if rng.random() < share else c) + (b if rng.random() < share else d))

    files["s3"] = [mixed(right, own) for right, own in zip(references, files["s3"], strict=True)]
    close = found(references, files).close_to_references
    assert close.keys() == {"s3"} and "hardly anybody else has" in close["s3"]
    few = dict(list(files.items())[:11])
    assert not found(references, few).close_to_references, "among few, a good model looks like that"


def test_a_file_that_several_have_is_one_group(class_):
    references, files = class_
    files |= {"s5": files["s9"], "s7": files["s9"], "s2": files["s1"]}
    findings = found(references, files)
    assert len(findings.same) == 4 and findings.usual < 0.45
    assert [group.keys for group in findings.groups] == [("s5", "s7", "s9"), ("s1", "s2")]
    assert all(group.least == group.most == 1 for group in findings.groups)


@pytest.mark.parametrize(
    "disguise, least", [(lambda line: f"{line} !", 1.0), (lambda line: line.replace(line.split()[-1], "changed"), 0.35)]
)
def test_punctuation_and_one_changed_word_a_line_hide_nothing(class_, disguise, least):
    references, files = class_
    files["s4"] = [disguise(line) for line in files["s9"]]
    [same] = found(references, files).same
    assert {same.left, same.right} == {"s4", "s9"} and same.share >= least > 0.1 > same.usual
