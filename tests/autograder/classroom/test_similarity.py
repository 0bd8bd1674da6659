"""Pairs of a class that have much in common: statements without their author's names, the command."""

import ast
import json
import random
import re

import pytest

from autograder.__main__ import main
from autograder.classroom.similarity import Statement, Written, find_matches, written_in
from autograder.intake.submission import Intake
from foundation.places import REFERENCE
from foundation.whole_files import write_whole

from ..conftest import ASSIGNMENT, words_of


def written(text, given=frozenset()):
    return written_in(Intake("x", {"layers": ("layers.py", text)}, frozenset({"layers"})), ASSIGNMENT.contract, given)


def test_given_code_is_no_answer():
    """Nor is given code with other names."""
    release = "class LayerNorm:\n    def forward(self, x):\n"
    release += "        if self.d:\n            raise NotImplementedError\n        return x\n"
    given = frozenset(statement.text for statement in written(release).statements)
    assert given and not written(release.replace("x", "inputs"), given).statements
    own = release.replace("return x", "return x * self.gain") + "def helper(x):\n    return x + 1\n"
    answers = written(own, given).statements
    assert [(statement.component, statement.lines) for statement in answers] == [
        ("layers.LayerNorm", (5,)),
        ("layers: other code", (7,)),
    ]


def independent(rng):
    """Ten components, each in one of six ways with ten statements, and thirty statements of one's own."""
    ways = [10 * (100 * part + rng.randrange(6)) for part in range(10)]
    return {way + n for way in ways for n in range(10)} | {rng.randrange(10**6, 10**9) for _ in range(30)}


def class_of(texts):
    return {
        f"s{n}": Written([Statement("layers.LayerNorm", text, "layers", (text % 20 + 1,)) for text in sorted(own)])
        for n, own in enumerate(texts)
    }


@pytest.mark.parametrize("count", [12, 100])
def test_a_copy_is_found_and_nobody_else(count):
    """Though a tenth of it is changed, and much added."""
    rng = random.Random(count)
    class_ = [independent(rng) for _ in range(count)]
    class_[3] = set(rng.sample(sorted(class_[7]), 117)) | {rng.randrange(10**9, 10**12) for _ in range(300)}
    [pair] = find_matches(class_of(class_)).pairs
    assert (pair.left, pair.right) == ("s3", "s7") and 0.8 < pair.share < 1
    assert [(match.component, match.module) for match in pair.matches] == [("layers.LayerNorm", "layers")]


def test_what_everybody_has_and_a_few_equal_lines_say_nothing():
    assert not find_matches(class_of([set(range(100))] * 30)).pairs
    rng = random.Random(6)
    six = [set(range(100)) | {rng.randrange(10**6) for _ in range(own)} for own in (3, 3, 3, 3, 3, 60)]
    assert find_matches(class_of(six)).too_little == ("s0", "s1", "s2", "s3", "s4"), "they are named"
    assert not find_matches(class_of([{1, 2, 3}, {1, 2, 3}])).pairs


@pytest.mark.slow
def test_the_command_and_its_page(tmp_path):
    """A copy without comments and nobody else; what cannot be read, with the reason; nothing runs."""
    right = {name: (REFERENCE / f"{name}.py").read_text() for name in ("embedding", "attention", "layers")}
    of_ben = {name: re.sub(r"\bself\b", "this", text) for name, text in right.items()}
    marked = re.sub("( return .*)", r"\1  # <script>alert(1)</script><img src=x>", of_ben["attention"])
    class_ = {"amina": right, "ben": of_ben | {"attention": f"open({str(tmp_path / 'ran')!r}, 'w')\n{marked}"}}
    class_ |= {"eva": right, "gina": {"layers": "x = 1" + "+1" * 1500}, "ines": right}
    class_["jan"] = {name: ast.unparse(ast.parse(text)) for name, text in of_ben.items()}
    for student, files in class_.items():
        for name, text in files.items():
            write_whole(tmp_path / "class" / student / f"{name}.py", text)
    (tmp_path / "class" / "hugo.zip").write_bytes(b"not an archive")
    output = tmp_path / "marks"
    assert main(["similar", str(tmp_path / "class"), "--output", str(output), "--jobs", "2"]) == 0
    assert not (tmp_path / "ran").exists()

    findings = json.loads((output / "similar.json").read_text())
    [pair] = findings["pairs"]
    assert {findings["names"][pair["left"]], findings["names"][pair["right"]]} == {"ben", "jan"}
    reasons = {findings["names"][key]: why for key, why in findings["unread"].items()}
    assert reasons.keys() == {"hugo", "gina"} and "nested too deeply" in reasons["gina"]
    text = (output / "similar.html").read_text()
    assert "<script>" not in text and "<img" not in text and "&lt;script&gt;" in text and "attention.py, lines" in text
    assert "ben and jan" in words_of(text) or "jan and ben" in words_of(text)
