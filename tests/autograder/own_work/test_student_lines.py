"""One-line changes of a student's code."""

import ast

import pytest

from autograder.own_work.student_lines import changes_of, definition_of, statements_in, with_code
from foundation.places import REFERENCE


def statements(text: str, component: str):
    return [*statements_in(definition_of(component, {component.partition(".")[0]: ("", text)}))]


def test_each_change_is_of_one_own_line_and_is_python():
    text = (REFERENCE / "layers.py").read_text(encoding="utf-8")
    own = statements(text, "layers.LayerNorm")
    lines = {number for statement in own for number in statement.lines}
    changes = changes_of(text, own)
    assert len(changes) > 15
    for change in changes:
        old, new = text.split("\n"), change.text.split("\n")
        different = [number for number, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b]
        assert different == [change.line] and change.line in lines
        assert new[change.line - 1].strip() == change.after != change.before == old[change.line - 1].strip()
        ast.parse(change.text)


def test_code_is_replaced_in_its_place_alone():
    text = "é = 'ß'; y = f(x,\n  2)  # why\nz = 1"
    [_, statement, _] = ast.parse(text).body
    assert with_code(text, statement, "y = 0") == "é = 'ß'; y = 0  # why\nz = 1"
    assert with_code(text, statement, "y = (") is None


@pytest.mark.parametrize(
    "code, wanted, unwanted",
    [
        ("a, b = f(query, key)", {"a, b = f(key, key)"}, {"a, b = query"}),  # several results stay several
        ("c = f(query, key)", {"c = query"}, set()),
        ("return f(query, mask)", {"return f(key, mask)", "return f(query, None)"}, {"return f(mask, mask)"}),
    ],
)
def test_what_somebody_might_write(code, wanted, unwanted):
    text = f"def attend(query: Tensor, key: Tensor, scale: int, mask: Tensor | None = None):\n    {code}\n"
    changes = {change.after for change in changes_of(text, statements(text, "layers.attend"))}
    assert wanted <= changes and not unwanted & changes and not any("scale" in change for change in changes)
