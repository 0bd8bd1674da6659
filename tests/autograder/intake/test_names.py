"""Code that is read: imports, mentions of what is forbidden, uses of internals, equal statements, copies of tests."""

import ast
import pkgutil
import re
from types import ModuleType

import pytest
import torch.nn.functional as F
from torch import nn

from autograder.grading.record import MOST_SHOWN
from autograder.intake.meanings import MAX_NAMES, OTHERS, wanted_imports
from autograder.intake.names import MOST_INTERNALS, find_internals, find_mentions
from autograder.intake.sources import names_in, parse, read_sources
from autograder.intake.statements import code_of_tests, find_copied, statements_in
from autograder.intake.submission import Intake, take_in
from autograder.sandbox.worker.loading import is_available
from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT as FOLDER
from foundation.places import REFERENCE, ROOT, SKELETON
from foundation.processes import CPU, time_limit
from validity.variants import read_variants

from ..conftest import examples_in

EXAMPLES = examples_in("intake/internals.toml")
ASSIGNMENT = read_assignment()
FORBIDDEN = ASSIGNMENT.contract.forbidden
RELEASE = read_sources(SKELETON, SKELETON)


def test_hostile_imports_cost_no_time_and_few_names():
    """Python's own parser takes gigabytes for a name of endless parts."""
    text = "import " + " " * 2_000_000 + "\n" + "from " + "a." * 500_000 + "\n" + "import x1, " * 100_000
    assert len(wanted_imports({"layers": ("layers.py", f"{text}\nimport math")})) <= MAX_NAMES
    for dot in (".", ".\\\n"):
        text = f"import {dot.join('a' * 100_000)}"
        assert "200 parts" in parse(text).msg and names_in(text) == (set(), set())
    assert isinstance(parse("import a" + ".b" * 150 + "\nx = '" + "1. 2.\\n" * 500 + "'"), ast.Module)


def mentions(text: str) -> list[str]:
    return list(find_mentions({"layers": ("layers.py", text)}, FORBIDDEN))


@pytest.mark.parametrize("case", EXAMPLES["noted"], ids=lambda case: case["code"][:40])
def test_a_mention_is_noted_once(case):
    [note], name = mentions(case["code"]), case["name"]
    place, _, consequence = note.partition("; ")
    assert re.fullmatch(rf"note: layers\.py, line [23]: {name}", place)
    of_some = f"grading refuses it in {', '.join(name.partition('.')[2] for name in FORBIDDEN.components)}"
    assert consequence == ("grading refuses a task that uses it" if "Transformer" in name else of_some)


def test_a_forbidden_part_in_what_it_replaces_is_said_to_cost_it():
    text = "from torch import nn\n\n\nclass LayerNorm(nn.LayerNorm):\n    pass\n"
    [note] = find_mentions({"layers": ("layers.py", text)}, FORBIDDEN)
    assert note.endswith("line 4: torch.nn.LayerNorm; grading refuses it here, and LayerNorm then earns nothing")


def test_own_names_and_other_code_are_not():
    assert mentions("# nn.LayerNorm\nclass LayerNorm:\n    def layer_norm(self):\n        return 'F.layer_norm'") == []
    assert mentions("from torch import nn\nfrom other import LayerNorm\nx = nn.Linear(2, 2), LayerNorm(2)") == []
    assert mentions("class LayerNorm(:") == []


def names(text):
    sources = {"layers": ("layers.py", text)}
    uses = find_internals(sources, sources, FORBIDDEN, {})
    return [name for use in uses for name in use.partition(" in layers.py")[0].split(", ")]


@pytest.mark.parametrize("case", EXAMPLES["listed"], ids=lambda case: case["code"][:40])
def test_a_use_is_listed(case):
    assert case["name"] in names(case["code"])


@pytest.mark.parametrize("case", EXAMPLES["unlisted"], ids=lambda case: case["code"][:40])
def test_a_mention_or_an_own_name_is_not(case):
    assert names(case["code"]) == []


def test_a_module_within_another_is_usual_only_by_a_line_of_its_own():
    is_listed, usual = re.compile(FORBIDDEN.listed).fullmatch, ".\n".join([*FORBIDDEN.usual, ""])
    for name in filter(is_available, FORBIDDEN.usual):  # loads what a submission can have, too
        for part, value in vars(pkgutil.resolve_name(name)).items():
            is_inner = issubclass(type(value), ModuleType) and f"{name}.{part}." not in usual
            assert not is_inner or is_listed(f"{name}.{part}"), f"{name}.{part}"


@pytest.mark.parametrize("case", EXAMPLES["by_way"], ids=lambda case: case["code"][:40])
def test_a_module_is_known_by_way_of_another_one(case):
    sources = {"data": ("data.py", "import torch\nimport torch as lib\n"), "layers": ("layers.py", case["code"])}
    assert [use.partition(" in ")[0] for use in find_internals(sources, ["layers"], FORBIDDEN, {})] == ["torch.ops"]


@pytest.mark.parametrize("code", ["x = c{n}.normalize", "for input in (c{n},):\n    x = input.normalize"])
@pytest.mark.parametrize("n_between", [0, 6, 300])
def test_a_name_is_followed_to_the_end(code, n_between):
    """Through modules that import all of the one before, the first of which imports all of one of PyTorch's."""
    sources = {f"c{n}": (f"c{n}.py", f"from .c{n - 1} import *\n") for n in range(1, n_between + 1)}
    sources["c0"] = ("c0.py", "from torch.nn.functional import *\nfrom .c0 import c0\n")
    sources["layers"] = ("layers.py", f"from . import c{n_between}\n" + code.format(n=n_between))
    [use] = find_internals(sources, ["layers"], FORBIDDEN, {})
    assert use.startswith("torch.nn.functional.normalize in layers.py")


@pytest.mark.parametrize("code", ["import os\nx = os.normalize", "from c1 import *\nx = normalize"])
def test_a_name_is_followed_through_own_modules_with_names_of_pythons(code):
    texts = {"os": "from torch.nn.functional import *", "c1": "from os import *", "layers": code}
    sources = {f"own_model.{name}": (f"{name}.py", text) for name, text in texts.items()}
    [use] = find_internals(sources, ["own_model.layers"], FORBIDDEN, {})
    assert use.startswith("torch.nn.functional.normalize in layers.py, line 2")


def test_many_uses_of_one_kind_hide_no_other():
    flood = "\n".join(f"from torch.nn.modules.linear import Linear as L{n}" for n in range(2 * MOST_INTERNALS))
    uses = find_internals({"layers": ("", f"{flood}\nimport torch.onnx")}, ["layers"], FORBIDDEN, {})
    assert any(use.startswith("torch.onnx in layers.py") for use in uses)
    assert uses[-1] == f"{MOST_INTERNALS + 1} more uses of internals"


@pytest.mark.parametrize("true", ["f.__globals__", "gi_frame.f_back", "torch.onnx", "sys.modules"])
def test_invented_names_hide_no_true_one(true):
    flood = "\n".join(f"x.__my{n}__; sys._my{n}" for n in range(2 * MOST_INTERNALS))
    text = f"import sys, torch\n{flood}\nf.__globals__\n{true}\n"
    first = find_internals({"layers": ("layers.py", text)}, ["layers"], FORBIDDEN, {})[:2]
    assert any(true.split(".")[-1] in use for use in first), first


def test_harmless_kinds_and_long_lines_hide_nothing():
    flood = "\n".join(f"torch._foreach_{n}" for n in range(2 * MOST_SHOWN))
    text = f"import functools, torch\n{flood}\nfunctools.RLock(f);{' ' * 200}'{'-' * 200}'; torch.nn.modules.linear.X\n"
    first, *_ = find_internals({"layers": ("layers.py", text)}, ["layers"], FORBIDDEN, {})
    assert first.startswith("torch.nn.modules.linear.X, functools.RLock in layers.py, line 42: …-")
    assert "torch.nn.modules.linear.X" in first.partition(": ")[2] and len(first) < 300


def test_of_an_operation_nobody_knows_the_line():
    seen = [("layers", 1, "LinalgQr computed"), ("layers", 1, "LinalgSvd computed")]
    uses = find_internals({"layers": ("layers.py", "import torch\n")}, ["layers"], FORBIDDEN, {}, seen=seen)
    assert uses == ["LinalgSvd computed, LinalgQr computed in layers.py, line 1"]


def test_each_line_has_one_place_and_what_a_worker_has_seen_comes_first():
    sources = {"layers": ("layers.py", "import torch\ny = z(torch)\nx = torch._refs.add(torch._refs.mul, 1)\n")}
    sources["data"] = RELEASE["data"]  # of which all was handed out
    seen = [("layers", 2, "sys._getframe"), ("layers", 9, "exec"), ("data", 1, "exec"), ("elsewhere", 1, "exec")]
    *rest, last = find_internals(sources, ["layers"], FORBIDDEN, {}, seen=seen)
    assert last.startswith("exec in data.py, line 1: ") and rest == [
        "sys._getframe in layers.py, line 2: y = z(torch)",
        "exec in layers.py, line 9: ",
        "torch._refs.add, torch._refs.mul in layers.py, line 3: x = torch._refs.add(torch._refs.mul, 1)",
    ]
    assert find_internals(sources, [], FORBIDDEN, {}) == [], "only what the submission brings"


DOUBLING = "import torch as a0; import sys as a0\n" + "".join(
    f"a{n} = a{n - 1}.x; a{n} = a{n - 1}.y\n" for n in range(1, 60)
)
GROWING = "import sys as a\n" + "a = a.b\n" * 3_000
STARRED = "".join(f"from m{n} import *\n" for n in range(600)) + "a\n" * 3_000


@pytest.mark.parametrize("text", [DOUBLING, GROWING, STARRED], ids=["doubling", "growing", "starred"])
def test_names_of_ever_more_meanings_are_listed_and_cost_little(text):
    with time_limit(10, CPU):
        assert len(wanted_imports({"layers": ("layers.py", text)})) <= MAX_NAMES and OTHERS in names(text)


HANDOUT = (FOLDER / "handout.md").read_text(encoding="utf-8")


def family(name: str) -> str:
    """LazyBatchNorm1d, SyncBatchNorm and BatchNorm2d count as one; so does all that begins with Transformer."""
    return re.sub("^Transformer.*", "Transformer", re.sub("^(Lazy|Sync)|[123]d$", "", name.removesuffix("…")))


def test_the_handout_names_what_is_forbidden():
    named = {f"{package}.{family(name)}" for package, name in re.findall(r"`(nn|F)\.(\w+…?)`", HANDOUT)}
    forbidden = [name for name in dir(nn) if mentions(f"import torch\nx = torch.nn.{name}")]
    classes = {f"nn.{family(name)}" for name in forbidden if isinstance(getattr(nn, name), type)}
    functions = {f"F.{name}" for name in dir(F) if mentions(f"import torch\nx = torch.nn.functional.{name}")}
    assert named == classes | functions and len(classes) > 6 and len(functions) > 5


@pytest.fixture(scope="module")
def of_tests() -> dict[int, str]:
    return code_of_tests(FOLDER, ASSIGNMENT.contract)


def copied(sources: dict[str, tuple[str, str]], of_tests: dict[int, str]) -> list[str]:
    own = sources.keys() - ASSIGNMENT.own_tests
    return find_copied(Intake("anna", sources, release=RELEASE), own, ASSIGNMENT.contract, of_tests)


def texts_in(code: str) -> set[int]:
    return {statement.text for statement in statements_in({"layers": ("layers.py", code)}, ASSIGNMENT.contract)}


def test_names_layout_and_order_do_not_count():
    code, other = examples_in("intake/statements.toml").values()
    assert texts_in(code) == texts_in(other) != texts_in(code.replace("relu", "tanh"))


def test_a_message_in_words_that_tests_use_too_is_no_copy():
    message = "', '.join(str(tuple(x.shape)) for x in tensors)"
    assert (FOLDER / "tests" / "test_2_4_transformer.py").read_text(encoding="utf-8").count("str(tuple(") > 0
    text = f"def check(tensors):\n    raise ValueError('sizes differ: ' + {message})\n"
    assert copied({"layers": ("layers.py", text)}, code_of_tests(FOLDER, ASSIGNMENT.contract)) == []


class Wrapped(ast.NodeTransformer):
    """Each value stands in a loop of its own, as somebody might write who knows how statements are compared."""

    def visit_Assign(self, node):
        return ast.For(node.targets[0], ast.Tuple([node.value], ast.Load()), [ast.Pass()], [], lineno=node.lineno)

    def visit_Return(self, node):
        return ast.copy_location(ast.Expr(ast.Yield(ast.Tuple([node.value], ast.Load()))), node)


@pytest.mark.parametrize("name", ["flows", "layers", "trainings"])
def test_a_file_of_expected_results_is_found_in_a_submission(name, of_tests):
    tree = ast.parse((FOLDER / "expected" / f"{name}.py").read_text())
    text = ast.unparse(ast.fix_missing_locations(Wrapped().visit(tree)))
    [note] = copied({"layers": ("layers.py", text), "model": ("model.py", "x = 1\n")}, of_tests)
    assert f"expected/{name}.py" in note and "layers.py, line" in note


@pytest.mark.parametrize(
    ("path", "name"),
    [
        *(("assignment/stand_ins/formulas.py", name) for name in ("progress", "gaps", "swing", "look_up")),
        ("assignment/tests/test_e_1_diagonal_mask.py", "counts"),
        ("autograder/testing/case.py", "Case"),
        ("autograder/testing/case.py", "earlier_keys"),
    ],
)
def test_one_function_of_the_tests_is_found_under_other_names(path, name, of_tests):
    [part] = (node for node in ast.parse((ROOT / path).read_text()).body if getattr(node, "name", "") == name)
    part.name = "mine"
    for node in ast.walk(part):
        if isinstance(node, ast.arg) and node.arg != "self":
            node.arg = f"my_{node.arg}"
    [note] = copied({"masks": ("masks.py", f"import torch\nfrom torch import nn\n{ast.unparse(part)}")}, of_tests)
    assert "of the code of the tests' " in note and "masks.py, line" in note


def test_right_submissions_use_no_internals_and_repeat_nothing(of_tests, reference):
    assert find_internals(RELEASE, ["__init__", "__main__"], FORBIDDEN, {}) == [], "which is shown at home, too"
    taken = take_in(REFERENCE, SKELETON, ASSIGNMENT).sources
    versions = [(taken, taken)]
    for variant in read_variants(ASSIGNMENT, reference):
        changed = {name: source for name, source in variant.sources.items() if source != reference.get(name)}
        versions.append((variant.sources, changed))
    for sources, changed in versions:
        assert find_internals(sources, ASSIGNMENT.contract.modules, FORBIDDEN, RELEASE) == []
        assert changed and copied(changed, of_tests) == []


def test_code_that_is_nested_too_deeply_is_listed(of_tests):
    [note] = copied({"layers": ("layers.py", "x = " + "+".join(["1"] * 1000) + "\n")}, of_tests)
    assert note == "layers.py, line 1: nested too deeply to be compared with the tests"
