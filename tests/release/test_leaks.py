"""Solutions are found wherever they survive, and given code raises no alarm."""

import json
import textwrap

import pytest

from release.leaks import LeakFinder

SOLUTION = """\
def f(self, d_in, d_out):
    self.weight = nn.Parameter(torch.randn(d_in, d_out) / d_in**0.5)
    self.bias = nn.Parameter(torch.zeros(d_out))
"""
RENAMED = """\
def g(me, a, b):
    me.matrix = nn.Parameter(torch.randn(a, b) / a**0.5)
    me.offset = nn.Parameter(torch.zeros(b))
"""


@pytest.fixture(scope="module")
def finder(skeleton) -> LeakFinder:
    return LeakFinder(skeleton)


def notebook(source: str, **cell: object) -> str:
    whole = {"cell_type": "code", "source": source.splitlines(keepends=True), "metadata": {}, "outputs": [], **cell}
    return json.dumps({"cells": [whole], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


HIDING_PLACES = {
    "module": lambda code: code,
    "commented out": lambda code: textwrap.indent(code, "# "),
    "in a docstring": lambda code: f'def f():\n    """Doc.\n\n{code}    """\n',
    "as an escaped string": lambda code: f"X = {code!r}\n",
    "notebook cell": notebook,
    "notebook output": lambda code: notebook("", outputs=[{"text": code.splitlines(keepends=True)}]),
    "without newlines": lambda code: "; ".join(line.strip() for line in code.splitlines()),
    "exploded": lambda code: code.replace("nn.Parameter(", "(\n    nn . Parameter(\n        ").replace(
        ")\n", ",\n    )\n)\n"
    ),
}


@pytest.mark.parametrize("code", [SOLUTION, RENAMED], ids=["verbatim", "renamed"])
@pytest.mark.parametrize("place", HIDING_PLACES)
def test_a_solution_is_found_in_every_place_and_layout(finder, place: str, code: str) -> None:
    leaks = finder.leaks_in("a.txt", HIDING_PLACES[place](code).encode())
    assert any("reference/affine.py:" in leak and "(TODO 1.1)" in leak for leak in leaks), leaks
    assert all(leak.startswith("a.txt:") for leak in leaks)


@pytest.mark.parametrize(
    "statement",
    [
        "return x @ self.weight + self.bias",
        "self.second = Affine(d_hidden, 1)",
        "return self.second(torch.tanh(self.first(x))).squeeze(-1)",
        "y = nn.Parameter(torch.randn(d_in, d_out) / d_in**0.5)",  # in another statement
    ],
)
def test_each_statement_alone_is_found(finder, statement: str) -> None:
    assert finder.leaks_in("a.py", statement.encode())


@pytest.mark.parametrize(
    "text",
    [
        "class Regressor(nn.Module):\n    def forward(self, x: Tensor) -> Tensor:\n",  # given code
        "The second of two affine maps, after the tanh of the first one, squeezes x.",
        "le chat ||| the cat\n" * 1000,
        "total = sum(prices)\nif total == 0:\n    return None\n",
    ],
)
def test_no_false_alarm_on_other_text(finder, text: str) -> None:
    assert finder.leaks_in("a.py", text.encode()) == []


@pytest.mark.parametrize("content", [b"\x00\x01\x02", b"\xff", SOLUTION.encode("utf-16")])
def test_what_is_not_text_is_a_fault(finder, content: bytes) -> None:
    (leak,) = finder.leaks_in("a.pyc", content)
    assert leak == "a.pyc: is not text, so its content cannot be checked; remove it"
