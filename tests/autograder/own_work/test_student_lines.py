"""Which statements are the student's, and what one-line changes of them there are."""

import ast
import textwrap

import pytest

from autograder.intake.submission import Intake
from autograder.own_work.student_lines import changes_of, own_statements, with_code
from foundation.places import REFERENCE, SKELETON

GIVEN = '''
class Norm:
    """What it is."""

    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        """Normalises x."""
        raise NotImplementedError
'''
OWN = '''
def centre(x):
    return x - x.mean(dim=-1, keepdim=True)


def unused(x):
    return x


class Norm:
    """What it is."""

    def __init__(self, size):
        super().__init__()
        self.size = size
        self.gain = torch.ones(size)

    def forward(self, x):
        """Normalises x."""
        """And so on."""
        if x.dim() == 0:
            return x
        y = centre(x)
        return self.gain * y / torch.sqrt(y.square().mean(dim=-1, keepdim=True))
'''


def intake(text: str, given: str = GIVEN) -> Intake:
    sources = {"layers": ("layers.py", textwrap.dedent(text))}
    return Intake("anna", sources, frozenset(sources), release={"layers": ("layers.py", given)})


def code_of(text: str, component: str = "layers.Norm") -> list[str]:
    return [ast.unparse(one.node) for one in own_statements(intake(text), component)]


def test_own_is_what_was_not_handed_out_and_helpers_that_are_used():
    assert code_of(OWN) == [
        "self.gain = torch.ones(size)",
        "return x",
        "y = centre(x)",
        "return self.gain * y / torch.sqrt(y.square().mean(dim=-1, keepdim=True))",
        "return x - x.mean(dim=-1, keepdim=True)",
    ]


@pytest.mark.parametrize("text", ["def Norm(:", "", "Norm = 3", "from .other import Norm"])
def test_code_that_is_not_there_has_no_statements(text):
    assert code_of(text) == []


def test_each_change_is_of_one_own_line_and_is_python():
    text = (REFERENCE / "layers.py").read_text(encoding="utf-8")
    own = own_statements(intake(text, (SKELETON / "layers.py").read_text(encoding="utf-8")), "layers.LayerNorm")
    lines = {number for one in own for number in one.lines}
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
    changes = {change.after for change in changes_of(text, own_statements(intake(text), "layers.attend"))}
    assert wanted <= changes and not unwanted & changes and not any("scale" in change for change in changes)
