"""Which modules a submission will want to import: a worker cannot open files once it runs, so they come first.

Only names are looked for, with a pattern; submitted text is not parsed here. A name too many does no harm, since
only the standard library and the packages listed are ever imported.
"""

from __future__ import annotations

import re
import sys

PACKAGES = {"torch", "numpy", "tqdm", "einops", "sacrebleu", "nltk"}
NOT_FOR_US = {
    "antigravity",
    "this",
    "idlelib",
    "turtle",
    "turtledemo",
    "test",
    "__main__",
    "tkinter",
    "lib2to3",
}
MAX_NAMES = 200
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+([A-Za-z_][\w.]{0,99})", re.MULTILINE)
_IMPORT_FROM = re.compile(
    r"^[ \t]*from[ \t]+([A-Za-z_][\w.]{0,99})[ \t]+import[ \t]+\(?([\w, \t]{1,300})", re.MULTILINE
)


def wanted_imports(sources: dict[str, tuple[str, str]]) -> list[str]:
    """The names to import before the submission runs, sorted."""
    names: set[str] = set()
    for _, text in sources.values():
        names.update(_IMPORT.findall(text))
        for package, members in _IMPORT_FROM.findall(text):
            names.update(f"{package}.{member.split()[0]}" for member in members.split(",") if member.split())
    known = (PACKAGES | sys.stdlib_module_names) - NOT_FOR_US
    fitting = (name for name in names if name.partition(".")[0] in known and ".." not in name)
    return sorted(name for name in fitting if not name.endswith("."))[:MAX_NAMES]
