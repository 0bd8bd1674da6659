"""Finds the modules to import before submitted code runs, since a worker cannot open files afterwards.

Names are found by pattern; submitted text is not parsed here. A superfluous name does no harm: only the standard
library and the packages below are ever imported, and no part of them that starts anything.
"""

from __future__ import annotations

import re
import sys

from foundation.sources import Sources

PACKAGES = {
    "numpy": """char core.numeric ctypeslib dtypes emath exceptions fft lib lib.format lib.npyio lib.scimath
        lib.stride_tricks linalg ma matlib polynomial polynomial.polynomial random rec strings typing version""",
    "tqdm": "asyncio auto autonotebook contrib contrib.concurrent gui notebook rich std utils version",
    "einops": "einops experimental layers layers.torch packing",
    "sacrebleu": """compat dataset metrics metrics.base metrics.bleu metrics.chrf metrics.helpers metrics.ter sacrebleu
        significance tokenizers utils version""",
}
"""Packages with their parts that may be imported; other parts, such as tests, may do anything."""
PARTS = {f"{package}.{part}" for package, parts in PACKAGES.items() for part in parts.split()} | {*PACKAGES}
TORCH = {"amp", "autograd", "backends", "cuda", "distributions", "fft", "func", "linalg", "nn", "optim", "profiler"}
TORCH |= {"random", "special", "types", "utils.checkpoint", "utils.data", "utils.serialization"}
NOT_FOR_US = {"antigravity", "this", "idlelib", "turtle", "turtledemo", "test", "tkinter", "lib2to3", "webbrowser"}
NEVER = {"test", "tests", "conftest", "distutils", "f2py"}
"""Parts of any package that run something, leave a thread behind or raise pytest's own exceptions."""
MAX_NAMES = 200
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w., \t]{1,500})", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]{1,100})[ \t]+import[ \t]+\(?([\w, \t]{1,500})", re.MULTILINE)


def wanted_imports(sources: Sources) -> list[str]:
    """The names to import before the submission runs, sorted."""
    names: set[str] = set()
    for _, text in sources.values():
        for listed in _IMPORT.findall(text):
            names.update(first_words(listed))
        for package, listed in _FROM.findall(text):
            names.add(package)
            names.update(f"{package}.{member}" for member in first_words(listed))
    return sorted(name for name in names if is_harmless(name))[:MAX_NAMES]


def first_words(listed: str) -> list[str]:
    """The names in "one as other, two"."""
    return [part.split()[0] for part in listed.split(",") if part.split()]


def is_harmless(name: str) -> bool:
    """Whether importing a module of that name has no effect but to make it available."""
    package, _, rest = name.partition(".")
    parts = name.split(".")
    if any(part.startswith("_") or not part for part in parts) or package in NOT_FOR_US or NEVER & {*parts}:
        return name == "__future__"
    if package == "torch":
        return not rest or any(f"{rest}.".startswith(f"{part}.") for part in TORCH)
    return name in PARTS or package in sys.stdlib_module_names
