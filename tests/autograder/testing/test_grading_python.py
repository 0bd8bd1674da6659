"""What the Python that grades cannot read is refused in a student's own run by a newer one."""

import sys

import pytest

from autograder.sources import check_syntax, newer_f_string, read_sources
from autograder.testing.under_test import InProcessSubmission
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, SKELETON

START, MIDDLE, END = "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"


def tokens(*parts: str) -> list[tuple[str, str, int]]:
    """Tokens as Python 3.12 splits them; a part such as 'NAME x' is a token, '2:' goes to the second line."""
    found, line = [], 1
    for part in parts:
        if part[0].isdigit():
            line, part = int(part[0]), part[2:]
        kind, _, text = part.partition(" ")
        found.append((kind, text, line))
    return found


OLD = {
    'f"sizes {x}"': tokens(f'{START} f"', f"{MIDDLE} sizes ", "OP {", "NAME x", "OP }", f'{END} "'),
    "f\"{', '.join(x)}\"": tokens(f'{START} f"', "OP {", "STRING ', '", "OP .", "NAME join", "OP }", f'{END} "'),
    'f"a\\n{x:>{w}}\\t"': tokens(
        *(f'{START} f"', f"{MIDDLE} a\\n", "OP {", "NAME x", "OP :", f"{MIDDLE} >", "OP {", "NAME w", "OP }"),
        *("OP }", f"{MIDDLE} \\t", f'{END} "', "2:STRING '\\n'", "COMMENT # so"),
    ),
    'f"""{x["a"]}\n{y}"""': tokens(
        *(f'{START} f"""', "OP {", "NAME x", "OP [", 'STRING "a"', "OP ]", "OP }", f"{MIDDLE} \n", "2:OP {"),
        *("2:NAME y", "2:OP }", f'2:{END} """'),
    ),
    "f\"{f'{x}'}\"": tokens(
        f'{START} f"', "OP {", f"{START} f'", "OP {", "NAME x", "OP }", f"{END} '", "OP }", f'{END} "'
    ),
}
NEW = {
    'f"sizes {", ".join(x)}"': (tokens(f'{START} f"', "OP {", 'STRING ", "', "OP .", "OP }", f'{END} "'), '"'),
    'f"{f"{x}"}"': (tokens(f'{START} f"', "OP {", f'{START} f"', "OP {", "NAME x"), '"'),
    "f'{\"\\n\".join(x)}'": (tokens(f"{START} f'", "OP {", 'STRING "\\n"', "OP .", "OP }"), "backslash"),
    "f\"{f'\\t{x}'}\"": (tokens(f'{START} f"', "OP {", f"{START} f'", f"{MIDDLE} \\t"), "backslash"),
    'f"{\n x}"': (tokens(f'{START} f"', "OP {", "NL \n", "2:NAME x"), "next line"),
    'f"""{x # what\n}"""': (tokens(f'{START} f"""', "OP {", "NAME x", "COMMENT # what"), "comment"),
}


@pytest.mark.parametrize("text", OLD)
def test_an_f_string_that_311_reads_is_left_alone(text: str):
    compile(text, "it", "exec")
    assert newer_f_string(OLD[text]) == ("", 0)


@pytest.mark.parametrize("text", NEW)
def test_an_f_string_that_only_312_reads_is_named(text: str):
    found, words = NEW[text]
    what, line = newer_f_string(found)
    assert words in what and line == found[-1][2]
    if sys.version_info < (3, 12):
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
