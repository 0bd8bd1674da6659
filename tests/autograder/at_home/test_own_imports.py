"""A student's own run imports and reads what grading does; stand-ins are reached whatever they are called."""

import importlib
import sys
from dataclasses import replace

import pytest
import torch

from autograder.intake.sources import check_syntax, newer_f_string, read_sources
from autograder.running.under_test import InProcessSubmission
from foundation.places import REFERENCE, SKELETON

RELATIVE = "from .attention import MultiHeadedAttention"
BROKEN = "\n\ndef _break(*arguments):\n    raise KeyError('its own part was used')\n\nLayerNorm.forward = _break\n"
WAYS = {
    "name": ("", "LayerNorm(d_model)"),
    "dictionary": ("NORMS = {'layer': LayerNorm}\n", "NORMS['layer'](d_model)"),
    "partial": ("import functools\nmake = functools.partial(LayerNorm, epsilon=1e-5)\n", "make(d_model)"),
    "default": ("def make(d, kind=LayerNorm):\n    return kind(d)\n", "make(d_model)"),
    "keyword-only default": ("def make(d, *, kind=LayerNorm):\n    return kind(d)\n", "make(d_model)"),
    "closure": ("def maker(kind):\n    return lambda d: kind(d)\nmake = maker(LayerNorm)\n", "make(d_model)"),
    "attribute": ("class Parts:\n    norm = LayerNorm\n", "Parts.norm(d_model)"),
    "configuration": ("import types\nCONFIG = types.SimpleNamespace(norm=LayerNorm)\n", "CONFIG.norm(d_model)"),
}


@pytest.fixture
def open_run(assignment):
    """Makes a run of the reference in which the text of one module is changed."""
    made = []

    def make(change, of=assignment, module="layers") -> InProcessSubmission:
        sources = read_sources(REFERENCE, SKELETON)
        path, text = sources[module]
        made.append(InProcessSubmission({**sources, module: (path, change(text))}, of))
        return made[-1]

    yield make
    for submission in made:
        submission.close()


@pytest.fixture
def own_run(open_run):
    """Makes a run of the reference whose layers import attention in another way."""
    return lambda statement: open_run(lambda text: text.replace(RELATIVE, statement))


def forget_the_package(monkeypatch) -> None:
    """As in a student's process, which has not imported the package that it stands beside."""
    for name in [name for name in sys.modules if name == "student" or name.startswith("student.")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize(
    "statement", ["from student.attention import MultiHeadedAttention", "import student.attention"]
)
def test_an_import_by_the_full_name_is_refused(own_run, monkeypatch, statement):
    forget_the_package(monkeypatch)
    with pytest.raises(ModuleNotFoundError, match=r"'student.attention' when graded: write `from .attention"):
        own_run(statement).build("layers.LayerNorm", 4)


def test_what_works_when_graded_works_and_others_may_import_the_package(own_run, monkeypatch):
    forget_the_package(monkeypatch)
    fallback = f"try:\n    from student.attention import MultiHeadedAttention\nexcept ImportError:\n    {RELATIVE}"
    norm = own_run(fallback).build("layers.LayerNorm", 4)
    assert norm(torch.ones(2, 4)).shape == (2, 4)
    assert importlib.import_module("student.masks")


@pytest.mark.parametrize("before, build", WAYS.values(), ids=WAYS)
def test_a_component_is_met_by_its_stand_in(open_run, before, build):
    def change(text):
        assert text.count("class EncoderLayer") == 1 and "LayerNorm(d_model)" in text
        start, end = text.split("class EncoderLayer")
        return f"{start}{before}\n\nclass EncoderLayer{end.replace('LayerNorm(d_model)', build)}{BROKEN}"

    submission = open_run(change)
    layer = submission.build("layers.EncoderLayer", 8, 2, 12)
    assert layer(torch.randn(2, 3, 8), None)[0].shape == (2, 3, 8)
    with pytest.raises(KeyError, match="its own part"):
        submission.build("layers.LayerNorm", 8)(torch.randn(2, 8))
    with pytest.raises(KeyError, match="its own part"):
        submission.build("layers.EncoderLayer", 8, 2, 12, isolated=False)(torch.randn(2, 3, 8), None)


def test_a_function_in_a_dictionary_is_met_too(open_run):
    def change(text):
        start, end = text.split("class MultiHeadedAttention")
        text = f"{start}KINDS = {{'dot': scaled_dot_product_attention}}\n\n\nclass MultiHeadedAttention"
        text += end.replace(" scaled_dot_product_attention(", " KINDS['dot'](")
        assert "KINDS['dot'](" in text
        return text.replace("    weights = ", "    raise KeyError('its own part was used')\n    weights = ", 1)

    submission, x = open_run(change, module="attention"), torch.randn(2, 3, 8)
    assert submission.build("attention.MultiHeadedAttention", 8, 2)(x, x, x)[0].shape == (2, 3, 8)
    with pytest.raises(KeyError, match="its own part"):
        submission.call("attention.scaled_dot_product_attention", x, x, x)


START, MIDDLE, END = "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"
FREE = ("OP {", "NAME x", "OP }")
F_STRINGS = {  # the tokens, as Python 3.12 splits them; whether 3.11 reads them
    'f"sizes {x}"': ([f'{START} f"', f"{MIDDLE} sizes ", *FREE, f'{END} "'], True),
    "f\"{', '.join(x)}\"": ([f'{START} f"', "OP {", "STRING ', '", "OP .", "NAME join", "OP }", f'{END} "'], True),
    "f\"{f'{x}'}\"": ([f'{START} f"', "OP {", f"{START} f'", *FREE, f"{END} '", "OP }", f'{END} "'], True),
    'f"sizes {", ".join(x)}"': ([f'{START} f"', "OP {", 'STRING ", "'], False),
    'f"{f"{x}"}"': ([f'{START} f"', "OP {", f'{START} f"'], False),
    "f'{\"\\n\".join(x)}'": ([f"{START} f'", "OP {", 'STRING "\\n"'], False),
    "f\"{f'\\t{x}'}\"": ([f'{START} f"', "OP {", f"{START} f'", f"{MIDDLE} \\t"], False),
}


@pytest.mark.parametrize("text", F_STRINGS)
def test_an_f_string_that_only_312_reads_is_named(text: str):
    parts, is_old = F_STRINGS[text]
    assert newer_f_string((*part.partition(" ")[::2], 5) for part in parts) == (0 if is_old else 5)
    if is_old:
        compile(text, "it", "exec")
    elif sys.version_info < (3, 12):
        with pytest.raises(SyntaxError):
            compile(text, "it", "exec")


def test_newer_syntax_is_refused_with_version_and_line():
    text = "x = 1\ntry:\n    pass\nexcept* ValueError:\n    pass\n"
    with pytest.raises(SyntaxError, match=r"3\.11.*; you are graded by Python 3\.10") as caught:
        check_syntax("layers.py", text, (3, 10))
    assert (caught.value.filename, caught.value.lineno) == ("layers.py", 5)
    check_syntax("layers.py", text, (3, 11))
    check_syntax("layers.py", "def f(:\n", (3, 10))  # nobody reads that: it is left to the import


def test_an_own_run_refuses_what_grading_cannot_read(assignment, open_run):
    newer = "\n\ntry:\n    pass\nexcept* ValueError:\n    pass\n"
    submission = open_run(lambda text: text + newer, replace(assignment, python=(3, 10)))
    with pytest.raises(SyntaxError, match=r"you are graded by Python 3\.10"):
        submission.build("layers.LayerNorm", 4)
