"""Which Python files of a submission count: the contract's modules, and those beside them that they import."""

import ast
import difflib
import hashlib
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from ..sandbox.worker.contract import CONTRACT
from .errors import IntakeError, RefusedError, quote
from .limits import MAX_MODULES, MAX_SOURCE_BYTES
from .places import MODULE_FILES, Place, all_places, is_module, some
from .python_source import absolute_imports, decode, parse, relative_imports
from .tree import Tree

Sources = dict[str, tuple[str, str]]
"""Module name -> path for messages, text."""

NO_EFFECT = (".pth", ".so", ".pyd", ".dll", ".dylib", ".pyc")
NEVER_OURS = ("conftest.py", "sitecustomize.py", "usercustomize.py", "torch.py", "numpy.py")
TOO_MUCH = f"more than {MAX_SOURCE_BYTES:,} bytes of Python are imported; hand in what is asked for"


@dataclass
class Selection:
    """What was found: the modules that make up the package, and what a human should know."""

    sources: Sources
    submitted: set[str] = field(default_factory=set)
    hashes: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def blank(self, module: str, reason: str) -> None:
        """Puts a module in place of one that cannot be used: whoever asks for its components is told why."""
        self.sources[module] = (f"{module}.py", f"raise ImportError({reason!r})\n")
        self.submitted.add(module)
        self.notes.append(reason)


def read_release(release: Path) -> Sources:
    """The modules of the skeleton that was handed out.

    Raises:
        IntakeError: where it is not there.
    """
    try:
        found = {file.stem: (file.name, file.read_text(encoding="utf-8")) for file in sorted(release.glob("*.py"))}
    except (OSError, UnicodeDecodeError) as error:
        raise IntakeError(f"{release}: the release cannot be read: {error}") from None
    missing = [module for module in CONTRACT if module not in found]
    if missing:
        raise IntakeError(f"{release}: not the assignment's skeleton: {missing[0]}.py is missing; expected student/")
    return found


def select_modules(tree: Tree, place: Place, release: Sources, package: str) -> Selection:
    """The contract's modules and what they import relatively, from the submission or else from the release.

    Raises:
        RefusedError: for too much of it.
    """
    selection = Selection({"__init__": release.get("__init__", ("__init__.py", ""))})
    wanted = deque(CONTRACT)
    n_bytes = 0
    while wanted:
        module = wanted.popleft()
        if module in selection.sources:
            continue
        if f"{module}.py" in place.files:
            if len(selection.submitted) == MAX_MODULES:
                raise RefusedError(f"more than {MAX_MODULES} modules are imported; hand in what is asked for")
            n_bytes += add_module(selection, tree, place, module)
            if n_bytes > MAX_SOURCE_BYTES:
                raise RefusedError(TOO_MUCH)
        elif module in release:
            selection.sources[module] = release[module]
        else:
            continue
        wanted += imports_of(selection, module, place, package)
    selection.notes += notes_on_others(tree, place, selection, release)
    return selection


def complete(selection: Selection, release: Sources) -> None:
    """Adds the release's modules that are missing or imported, where the submission's own are notebooks."""
    wanted = deque(CONTRACT)
    while wanted:
        module = wanted.popleft()
        if module not in selection.sources and module in release:
            selection.sources[module] = release[module]
        tree = parse(selection.sources[module][1]) if module in selection.sources else None
        if isinstance(tree, ast.Module):
            wanted += [found.name for found in relative_imports(tree) if found.name not in selection.sources]


def add_module(selection: Selection, tree: Tree, place: Place, module: str) -> int:
    """Reads one module of the submission; returns its size."""
    file = f"{module}.py"
    try:
        content = tree.read(place.path(file))
        selection.hashes[file] = hashlib.sha256(content).hexdigest()
        selection.sources[module] = (file, decode(content))
    except RefusedError as error:
        selection.blank(module, f"{file}: {error}")
        return 0
    selection.submitted.add(module)
    return len(content)


def imports_of(selection: Selection, module: str, place: Place, package: str) -> list[str]:
    """The siblings that a module imports; notes imports that cannot work."""
    tree = parse(selection.sources[module][1])
    if isinstance(tree, SyntaxError):
        return []  # told to whoever asks for its components
    siblings = []
    for imported in relative_imports(tree):
        siblings.append(imported.name)
        if imported.is_folder and module in selection.submitted:
            where = f"{module}.py, line {imported.line}"
            selection.notes.append(f"{where}: {quote(imported.name + '/')} is a folder; put helpers beside {module}.py")
    if module in selection.submitted:
        for name, line in absolute_imports(tree):
            first, _, rest = name.partition(".")
            if first == package or (not rest and f"{first}.py" in place.files):
                wanted = "." + (rest or ("" if first == package else first))
                what = f"imports {name}, which is not found when graded; write `from {wanted} import …`"
                selection.notes.append(f"{module}.py, line {line} {what}")
    return siblings


def notes_on_others(tree: Tree, place: Place, selection: Selection, release: Sources) -> list[str]:
    """Says which files have no effect, where someone may have expected one."""
    python = {file for file in place.files if file.endswith(".py")} - {f"{name}.py" for name in selection.submitted}
    idle = {file for file in python if file in NEVER_OURS}
    idle |= {path.rpartition("/")[2] for path in tree.sizes if path.endswith(NO_EFFECT) and "__pycache__" not in path}
    if "__init__.py" in python and not is_same(tree, place, "__init__.py", release["__init__"][1]):
        idle.add("__init__.py")
    notes = [f"no effect on grading: {some(idle)}"] if idle else []
    others = python - idle - {"__init__.py"} - {f"{name}.py" for name in release}
    for file in sorted(others):
        if meant := misnamed(file, place.files):
            notes.append(f"{quote(file)} is not looked at; did you mean {meant}?")
            others.discard(file)
    if others:
        notes.append(f"not imported by the assignment's modules, so not looked at: {some(others)}")
    if any(file.endswith(".ipynb") for file in place.files):
        notes.append("the .py files were graded; the notebook beside them was not looked at")
    return notes + notes_on_places(tree, place)


def notes_on_places(tree: Tree, place: Place) -> list[str]:
    """Says where else modules lie."""
    elsewhere = [other for other in all_places(tree.sizes) if any(map(is_module, other.files)) and other != place]
    if not elsewhere:
        return []
    return [f"graded: the files in {place}; not looked at: those in {', '.join(map(str, elsewhere[:3]))}"]


def misnamed(file: str, files: frozenset[str]) -> str | None:
    """The module that a file was probably meant to be: "Layers.py", "layers (1).py", "layer.py"."""
    missing = [name for name in MODULE_FILES if name not in files]
    stem = file.removesuffix(".py").casefold().partition("(")[0].strip(" _-0123456789")
    nearest = difflib.get_close_matches(stem, [name.removesuffix(".py") for name in missing], n=1, cutoff=0.8)
    return f"{nearest[0]}.py" if nearest else None


def is_same(tree: Tree, place: Place, file: str, text: str) -> bool:
    """Whether a file of the submission is what the release has."""
    try:
        return decode(tree.read(place.path(file))).split() == text.split()
    except RefusedError:
        return False
