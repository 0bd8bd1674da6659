"""What the Python that grades cannot read is refused in a student's own run by a newer one."""

import sys

import pytest

from autograder.sources import check_syntax, newer_f_string, read_sources
from autograder.testing.under_test import InProcessSubmission
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, SKELETON

START, MIDDLE, END = "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"
FREE = ("OP {", "NAME x", "OP }")
F_STRINGS = {  # the tokens, as Python 3.12 splits them; what is said of the last one
    'f"sizes {x}"': ([f'{START} f"', f"{MIDDLE} sizes ", *FREE, f'{END} "'], ""),
    "f\"{', '.join(x)}\"": ([f'{START} f"', "OP {", "STRING ', '", "OP .", "NAME join", "OP }", f'{END} "'], ""),
    "f\"{f'{x}'}\"": ([f'{START} f"', "OP {", f"{START} f'", *FREE, f"{END} '", "OP }", f'{END} "'], ""),
    'f"a\\n{x:>{x}}"': (
        [f'{START} f"', f"{MIDDLE} a\\n", "OP {", "NAME x", "OP :", f"{MIDDLE} >", *FREE, "OP }", f'{END} "'],
        "",
    ),
    'f"""{x["a"]}"""': ([f'{START} f"""', "OP {", "NAME x", "OP [", 'STRING "a"', "OP ]", "OP }", f'{END} """'], ""),
    'f"sizes {", ".join(x)}"': ([f'{START} f"', "OP {", 'STRING ", "'], '"'),
    'f"{f"{x}"}"': ([f'{START} f"', "OP {", f'{START} f"'], '"'),
    "f'{\"\\n\".join(x)}'": ([f"{START} f'", "OP {", 'STRING "\\n"'], "backslash"),
    "f\"{f'\\t{x}'}\"": ([f'{START} f"', "OP {", f"{START} f'", f"{MIDDLE} \\t"], "backslash"),
    'f"{\n x}"': ([f'{START} f"', "OP {", "2:NAME x"], "next line"),
    'f"""{x # what\n}"""': ([f'{START} f"""', "OP {", "NAME x", "COMMENT # what"], "comment"),
}


@pytest.mark.parametrize("text", F_STRINGS)
def test_an_f_string_that_only_312_reads_is_named(text: str):
    parts, words = F_STRINGS[text]
    tokens = [(*part.removeprefix("2:").partition(" ")[::2], 1 + part.startswith("2:")) for part in parts]
    what, line = newer_f_string(tokens)
    assert words in what and line == (tokens[-1][2] if words else 0)
    if not words:
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


def test_an_own_run_refuses_what_grading_cannot_read(monkeypatch):
    monkeypatch.setattr("autograder.testing.under_test.is_newer", lambda version: True)
    monkeypatch.setattr("autograder.testing.under_test.check_syntax", lambda path, text, version: check(path, text))

    def check(path: str, text: str) -> None:
        check_syntax(path, text, (3, 10))

    sources = read_sources(REFERENCE, SKELETON)
    newer = "\n\ntry:\n    pass\nexcept* ValueError:\n    pass\n"
    path, text = sources["layers"]
    submission = InProcessSubmission({**sources, "layers": (path, text + newer)}, read_assignment())
    try:
        with pytest.raises(SyntaxError, match=r"you are graded by Python 3\.10"):
            submission.build("layers.LayerNorm", 4)
    finally:
        submission.close()
