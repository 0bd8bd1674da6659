"""A submission that is a notebook: cell by cell to the contract's modules. Nothing of it is run here but the result."""

import importlib
import re
import time
import types
from contextlib import closing, nullcontext

import pytest

from autograder.intake.cells import MAX_CODE_CHARACTERS
from autograder.sandbox.worker.loading import Package

from ..conftest import examples_in
from .conftest import CONTRACT, answer, as_notebook, code, reason, take

EXAMPLES = examples_in("intake/notebooks.toml")
NORM = "class LayerNorm:\n    filled = True\n"


def load(intake) -> dict[str, types.ModuleType]:
    """Imports the modules of an intake."""
    with closing(Package(dict(intake.sources), {}, None, "taken")):
        return {name: importlib.import_module(f"taken.{name}") for name in intake.sources if name != "__init__"}


def test_definitions_go_to_their_modules(write_notebook):
    path = write_notebook(
        {"cell_type": "markdown", "source": "# Transformer"},
        code("import torch\nimport math, json as j\nfrom torch import nn\n"),
        code("EPSILON = 1e-6\ndef helper(x):\n    return math.sqrt(x) + EPSILON\n"),
        answer("class LayerNorm(nn.Module):\n    def forward(self, x):\n        return helper(x)\n", "task_1_4_norm"),
        answer("def scaled_dot_product_attention(q, k, v):\n    return helper(4)\n", "task_1_2_attention"),
        answer("class EncoderLayer:\n    made = LayerNorm, MultiHeadedAttention\n", "task_2_1_layer"),
        code("model = EncoderLayer()\nfor step in range(10**9):\n    print(step)\n"),
    )
    intake = take(path)
    assert intake.submitted == {"attention", "layers"} and intake.name == "anna"
    modules = load(intake)
    layers, attention = modules["layers"], modules["attention"]
    assert layers.LayerNorm().forward(9) == 3 + 1e-6
    assert attention.scaled_dot_product_attention(1, 2, 3) == 2 + 1e-6
    assert layers.EncoderLayer.made == (layers.LayerNorm, attention.MultiHeadedAttention)
    assert layers.FeedForward  # the release's
    assert not hasattr(layers, "model") and not hasattr(layers, "j")
    assert set(CONTRACT) < set(intake.sources) and "__main__" not in intake.sources
    assert list(intake.hashes) == ["anna.ipynb"]
    [note] = intake.notes
    assert re.fullmatch(r"no cell defines InputEmbedding, MultiHeadedAttention, .* and \d+ more: not attempted", note)


def test_lines_are_located_in_their_cells(write_notebook):
    text = "\n\n@torch.no_grad()\nclass LayerNorm:\n    x = 1\n"
    intake = take(write_notebook(code("import torch"), answer(text, "a")))
    lines = intake.sources["layers"][1].split("\n")
    assert intake.locate("layers", lines.index("    x = 1") + 1) == "anna.ipynb, cell 2 (a), line 5"
    assert intake.locate("layers", 1) == "layers.py, line 1"


def made(cell: dict[str, str]) -> dict:
    """A cell of an example."""
    for kind, marks in (("answer", {"solution": True}), ("locked", {"locked": True}), ("test", {"grade": True})):
        if kind in cell:
            return code(cell["text"], cell[kind], **marks)
    return code(cell["text"])


@pytest.mark.parametrize("case", EXAMPLES["counting"])
def test_which_cell_counts(write_notebook, case):
    example = EXAMPLES["counting"][case]
    intake = take(write_notebook(*map(made, example["cells"])))
    assert load(intake)["layers"].LayerNorm.filled and example.get("note", "") in "\n".join(intake.notes)


@pytest.mark.parametrize("case", EXAMPLES["styles"])
def test_ways_to_write_a_notebook(write_notebook, case):
    example = EXAMPLES["styles"][case]
    layers = load(take(write_notebook(*map(code, example["cells"]))))["layers"]
    assert layers.LayerNorm().f(4) == example["result"]


def test_constants_that_need_what_is_not_there(write_notebook):
    using = f"{NORM}    def f(self):\n        return words\n"
    layers = load(take(write_notebook(code("words = open('nowhere').read()"), code(using))))["layers"]
    assert layers.LayerNorm.filled
    with pytest.raises(NameError, match="words"):
        layers.LayerNorm().f()


@pytest.mark.parametrize(
    "cell",
    [
        "for n in range(3):\n    TABLE[n] = n",
        "while len(TABLE) < 3:\n    TABLE.append(1)",
        "TABLE.update(a=1)",
        "with torch.no_grad():\n    TABLE = {}",
    ],
)
def test_a_statement_that_is_left_out_is_noted_where_a_component_needs_it(write_notebook, cell):
    using = f"{NORM}    def f(self):\n        return helper()\n"
    training = "for x in range(3):\n    loss = x\n    torch.manual_seed(0)\nprint(loss)"
    cells = "import torch", "TABLE = {}\ndef helper():\n    return TABLE, torch", f"x = 1\n{cell}", training
    intake = take(write_notebook(*map(code, cells), answer(using, "a")))
    code_of_it = cell.partition("\n")[0]
    assert intake.notes[0] == (
        f"anna.ipynb, cell 3, line 2, `{code_of_it}`, is left out, and LayerNorm needs it for TABLE: "
        "assign TABLE in one statement"
    )
    assert "is left out" not in " ".join(intake.notes[1:])


JUPYTER = ["%matplotlib inline\nfiles = !ls; echo it's\n", "%%capture out\n\n%%time\n!ls\n", "%%time\n" * 1_200]


@pytest.mark.parametrize("lines", JUPYTER)
def test_a_cell_that_jupyter_runs_is_taken(write_notebook, lines):
    intake = take(write_notebook(code(lines + NORM)))
    assert load(intake)["layers"].LayerNorm.filled
    assert not any("cannot be read" in note for note in intake.notes)


@pytest.mark.parametrize("body", ["return", "\n".join("  if x: return" for _ in range(3_000)).lstrip()])
def test_a_finally_block_is_compiled_once(write_notebook, body):
    """Python's compiler writes it once for each way out: gigabytes for a few that are nested."""
    deep = "".join(f"{' ' * depth}try: return\n{' ' * depth}finally:\n" for depth in range(1, 15))
    many = f" try:\n  {body}\n finally:\n" + "  x = [x, x, x]\n" * 300
    began = time.process_time()
    intake = take(write_notebook(code(f"def helper(x):\n{deep if body == 'return' else many}{' ' * 20}"), code(NORM)))
    assert "layers" in intake.submitted and time.process_time() - began < 3
    misplaced = take(write_notebook(code("try:\n    pass\nfinally:\n    return 1\n"), code(NORM)))
    assert "'return' outside function" in misplaced.notes[0]


@pytest.mark.parametrize(
    "cell, problem, lost",
    [
        ("\nclass LayerNorm:\n    x = (1\n", "`class LayerNorm:`, * (line 3: '(' was never closed", "LayerNorm"),
        ("def helper():\nreturn 1\n", "`def helper():`, * (line 2: expected an indented block", "EncoderLayer"),
        ("x = = 2", "`x = = 2`, * so what it defines is missing (line 1: invalid syntax: x = = 2)", ""),
    ],
)
def test_an_unreadable_cell_is_named_and_costs_what_it_defines(write_notebook, cell, problem, lost):
    using = "class EncoderLayer:\n    def __init__(self):\n        helper()\n"
    intake = take(write_notebook(answer("class FeedForward:\n    filled = True\n", "a"), code(using), code(cell)))
    [note] = [note for note in intake.notes if "cannot be read" in note]
    begin, _, end = f"anna.ipynb, cell 3, which begins {problem}".partition("*")
    assert note.startswith(begin) and end.strip() in note
    layers = load(intake)["layers"]
    assert layers.FeedForward.filled
    with pytest.raises(SyntaxError, match="anna.ipynb, cell 3, line") if lost else nullcontext():
        getattr(layers, lost or "FeedForward")()


def test_notebooks_in_a_folder_or_an_archive(pack, write_zip):
    files = {"work.ipynb": as_notebook([code(NORM)]), "translations.txt": b"a\n", ".ipynb_checkpoints/w.ipynb": b""}
    for path in (pack(files), write_zip(list(files.items()))):
        intake = take(path)
        assert load(intake)["layers"].LayerNorm.filled and intake.translations == b"a\n"
        assert "work.ipynb" in intake.hashes
    both = take(pack({**files, "a.ipynb": as_notebook([code("def causal_mask(): pass")])}))
    assert both.submitted == {"layers", "masks"}
    (pack(files) / "masks.py").write_text("x = 1\n")
    intake = take(pack(files))
    assert intake.submitted == {"masks"}
    assert intake.notes == ["the .py files were graded; the notebook beside them was ignored"]


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "not a complete notebook (Expecting value: line 1"),
        (as_notebook([code(NORM)])[:50], "not a complete notebook (Unterminated string"),
        (b"[]", "not a notebook: it has no cells"),
        (b"[" * 100_000, "not a complete notebook (maximum recursion"),
        (
            b'{"cells": [' + b"{}," * 6_000_000 + b"1]}",
            "a notebook of more than 10,000,000 values; clear its output",
        ),
        (as_notebook([code("x = 1")]), "no cell defines any of the assignment's classes and functions"),
        (as_notebook([code("#" * MAX_CODE_CHARACTERS + "\n")]), "more than 200,000 characters of code"),
    ],
)
def test_what_is_no_notebook(pack, tmp_path, content, message):
    (tmp_path / "anna.ipynb").write_bytes(content)
    assert message in reason(tmp_path / "anna.ipynb")
    assert "no cell" in message or f"'work.ipynb': {message}" in reason(pack({"work.ipynb": content, "x": ""}))


def test_text_is_an_answer_where_nbgrader_says_so_and_large_outputs_do_no_harm(write_notebook):
    outputs = [{"data": {"image/png": "A" * 20_000_000, "text/plain": ['a "quoted]" \\ line\n'] * 1000}}]
    answers = [{**answer(text, "test_e_5"), "cell_type": "markdown"} for text in ("BLEU fell.", "YOUR ANSWER HERE")]
    prose = {"cell_type": "markdown", "source": "prose"}
    intake = take(
        write_notebook(prose, {**code("class LayerNorm:\n    key = 'outputs'\n"), "outputs": outputs}, *answers)
    )
    assert "key = 'outputs'" in intake.sources["layers"][1] and intake.answers == "BLEU fell."
