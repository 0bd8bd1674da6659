"""Imports that only the solution used do not remain; all others do, as they were written."""

import pytest

from release.skeleton.imports import drop_imports


@pytest.fixture
def drop(read):
    """Strips by hand: lines with `# solution` are gone afterwards."""

    def run(text: str) -> str:
        before = read(text)
        kept = [line for line in before.lines if not line.rstrip().endswith("# solution")]
        return drop_imports(before, read("".join(kept)))

    return run


CASES = {
    "one name": ("import os\nimport sys\nos.getcwd()  # solution\nsys.exit()\n", "import sys\nsys.exit()\n"),
    "still used": ("import os\nos.a()  # solution\nos.b()\n", "import os\nos.b()\n"),
    "never used: it may be exported": ("import readline\nx = 1\n", "import readline\nx = 1\n"),
    "one of a list": (
        "from a import b, c as d, e  # noqa\nd()  # solution\nb(), e()\n",
        "from a import b, e  # noqa\nb(), e()\n",
    ),
    "one of several modules": ("import a, b\na.x()  # solution\nb.x()\n", "import b\nb.x()\n"),
    "from a line each": (
        "from a import (\n    b,  # why b\n    c,\n)\nb()  # solution\nc()\n",
        "from a import (\n    c,\n)\nc()\n",
    ),
    "from packed lines": (
        "from a import (b, c,\n               d)\nb()  # solution\nc(), d()\n",
        "from a import c, d\nc(), d()\n",
    ),
    "relative": ("from .a import b\nfrom . import c\nb(c)  # solution\n", ""),
    "future": (
        "from __future__ import annotations\nx = 1  # solution\n",
        "from __future__ import annotations\n",
    ),
    "star": ("from a import *\nb()  # solution\n", "from a import *\n"),
    "exported": ('import a\n__all__ = ["a"]\na.b()  # solution\n', 'import a\n__all__ = ["a"]\n'),
    "in an annotation": (
        "from a import B\ndef f(x: B): ...\nB()  # solution\n",
        "from a import B\ndef f(x: B): ...\n",
    ),
    "in a text annotation": (
        'from a import B\ndef f(x) -> "list[B]": ...\nB()  # solution\n',
        'from a import B\ndef f(x) -> "list[B]": ...\n',
    ),
    "dotted, another part in use": (
        "import a.b\nimport a.c\na.b.f()  # solution\na.c.f()\n",
        "import a.c\na.c.f()\n",
    ),
    "dotted, root in use": ("import a.b\na.b.f()  # solution\nprint(a)\n", "import a.b\nprint(a)\n"),
    "alias": ("import a.b as c\nimport a\nc.f()  # solution\na.f()\n", "import a\na.f()\n"),
    "for typing only": (
        "from t import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from a import B\n\nx = 1\nB  # solution\n",
        "x = 1\n",
    ),
    "in a function": ("def f():\n    import a\n    a()  # solution\n", "def f():\n    pass\n"),
    "two in a block": (
        "def f():\n    import a\n    import b\n    a(b)  # solution\n    return 1\n",
        "def f():\n    return 1\n",
    ),
    "with an alternative": (
        "try:\n    import a\nexcept ImportError:\n    a = None\na.x()  # solution\n",
        "try:\n    pass\nexcept ImportError:\n    a = None\n",
    ),
    "sharing a line": ("import a; import b\na()  # solution\nb()\n", "import b\nb()\n"),
    "a paragraph of its own": (
        '"""Doc."""\n\nimport a\n\nimport b\n\n\nx = b\na()  # solution\n',
        '"""Doc."""\n\nimport b\n\n\nx = b\n',
    ),
    "the last of a paragraph": (
        "import b\nfrom .c import d\n\n\nx = b\nd()  # solution\n",
        "import b\n\n\nx = b\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_drop(drop, name: str) -> None:
    text, expected = CASES[name]
    assert drop(text) == expected


def test_too_long_a_list_gets_a_line_each(drop) -> None:
    names = [f"name_number_{index:02}" for index in range(9)]
    text = f"from package import (\n    {', '.join(names[:5])},\n    {', '.join(names[5:])})\n"
    result = drop(text + f"{names[0]}()  # solution\n" + "".join(f"{name}()\n" for name in names[1:]))
    assert result.startswith("from package import (\n    name_number_01,\n")
    assert max(map(len, result.splitlines())) < 110
