"""Imports that only the solution used do not remain; all others do, as they were written."""

import sys

import pytest

from release.problems import ReleaseError
from release.skeleton.unused_imports import drop_unused_imports

CASES = {
    "one name": ("import os\nimport sys\nsys.exit()\n", "import sys\nsys.exit()\n"),
    "still used": ("import os\nos.b()\n", "import os\nos.b()\n"),
    "never used, and marked": ("import readline  # noqa: F401\nx = 1\n", "import readline  # noqa: F401\nx = 1\n"),
    "one of a list": ("from a import b, c as d, e\nb(), e()\n", "from a import b, e\nb(), e()\n"),
    "from a line each": ("from a import (\n    b,  # why b\n    c,\n)\nc()\n", "from a import (\n    c,\n)\nc()\n"),
    "relative": ("from .a import b\nfrom . import c\n", ""),
    "future": ("from __future__ import annotations\n", "from __future__ import annotations\n"),
    "star": ("from a import *\n", "from a import *\n"),
    "exported": ('import a\n__all__ = ["a"]\n', 'import a\n__all__ = ["a"]\n'),
    "in an annotation": ("from a import B\ndef f(x: B): ...\n", "from a import B\ndef f(x: B): ...\n"),
    "in a text annotation": (
        'from a import B\ndef f(x) -> "list[B]": ...\n',
        'from a import B\ndef f(x) -> "list[B]": ...\n',
    ),
    "in a function": ("def f():\n    import a\n", "def f():\n    pass\n"),
    "asks whether it can be imported": (
        "try:\n    import a\nexcept ImportError:\n    b = None\n",
        "try:\n    import a\nexcept ImportError:\n    b = None\n",
    ),
    "sharing a line": ("import a; import b\nb()\n", "import b\nb()\n"),
    "a paragraph of its own": (
        '"""Doc."""\n\nimport a\n\nimport b\n\n\nx = b\n',
        '"""Doc."""\n\nimport b\n\n\nx = b\n',
    ),
    "the last of a paragraph": ("import b\nfrom .c import d\n\n\nx = b\n", "import b\n\n\nx = b\n"),
    "a last paragraph": ("import b\n\nfrom .c import d\n\n\nx = b\n", "import b\n\n\nx = b\n"),
    "line ends of Windows": ("import a\r\nimport b\r\n\r\nb()\r\n", "import b\r\n\r\nb()\r\n"),
    "wide gaps elsewhere": ('import a\n\nx = """\n\n\n\n"""\n', '\nx = """\n\n\n\n"""\n'[1:]),
}


def test_cases() -> None:
    files = {f"{number}/a.py": text for number, (text, _) in enumerate(CASES.values())}
    assert dict(zip(CASES, drop_unused_imports(files).values(), strict=True)) == {
        name: expected for name, (_, expected) in CASES.items()
    }


def test_a_second_pass_finds_nothing_more() -> None:
    once = drop_unused_imports({f"{number}/a.py": text for number, (text, _) in enumerate(CASES.values())})
    assert drop_unused_imports(once) == once


def test_the_tool_is_missing(monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ReleaseError, match="ruff, which removes unused imports, failed"):
        drop_unused_imports({"a.py": "import a\n"})
