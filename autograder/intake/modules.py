"""Selects the Python files that count: the contract's modules, and those beside them that they import."""

import ast
import difflib
import hashlib
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.contract import Contract
from foundation.sources import Source, Sources, failing_module, file_of

from .assignment_folder import Place, all_places, has_modules, some
from .errors import IntakeError, RefusedError, quote
from .files.tree import Tree
from .python_source import absolute_imports, decode, parse, read_modules, relative_imports
from .size_limits import MAX_MODULES, MAX_SOURCE_BYTES

NO_EFFECT = (".pth", ".so", ".pyd", ".dll", ".dylib", ".pyc")
NEVER_OURS = ("conftest.py", "sitecustomize.py", "usercustomize.py", "torch.py", "numpy.py")
TOO_MUCH = f"more than {MAX_SOURCE_BYTES:,} bytes of Python are imported; hand in only what is asked for"


@dataclass
class Selection:
    """The modules that make up the package, and notes for people.

    Attributes:
        sources: all modules, by name.
        submitted: names of those that the submission brings.
        hashes: file name -> sha256 of the files that were read.
        notes: what a person should know.
    """

    sources: dict[str, Source]
    submitted: set[str] = field(default_factory=set)
    hashes: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def begin(cls, release: Sources) -> "Selection":
        """The package's `__init__` alone, which is always the release's."""
        return cls({"__init__": release.get("__init__", ("__init__.py", ""))})

    def replace_unusable(self, module: str, reason: str) -> None:
        """Replaces a module that cannot be used by one whose import raises the reason."""
        self.sources[module] = failing_module(module, reason)
        self.submitted.add(module)
        self.notes.append(reason)


def read_release(release: Path, contract: Contract) -> Sources:
    """The modules of the skeleton that was handed out.

    Raises:
        IntakeError: where it is missing or cannot be read.
    """
    found = {module: (file_of(module, path), text) for module, (path, text) in read_modules(release).items()}
    missing = [module for module in contract.modules if module not in found]
    if missing:
        raise IntakeError(f"{release}: not the assignment's skeleton: {missing[0]}.py is missing")
    return found


def select_modules(tree: Tree, place: Place, release: Sources, assignment: Assignment) -> Selection:
    """The contract's modules and those they import relatively, from the submission or otherwise from the release.

    Raises:
        RefusedError: for too many or too large modules.
    """
    selection = Selection.begin(release)
    wanted = deque(assignment.contract.modules)
    n_bytes = 0
    while wanted:
        module = wanted.popleft()
        if module in selection.sources:
            continue
        if file := find_module(tree, place, module):
            if len(selection.submitted) == MAX_MODULES:
                raise RefusedError(f"more than {MAX_MODULES} modules are imported; hand in only what is asked for")
            n_bytes += add_module(selection, tree, place, module, file)
            if n_bytes > MAX_SOURCE_BYTES:
                raise RefusedError(TOO_MUCH)
        elif module in release:
            selection.sources[module] = release[module]
        else:
            continue
        wanted += imports_of(selection, module, place, assignment.package)
    selection.notes += notes_on_others(tree, place, selection, release, assignment.contract)
    return selection


def complete(selection: Selection, release: Sources, contract: Contract) -> None:
    """Adds the release's modules that a submission of notebooks lacks or imports."""
    wanted = deque(contract.modules)
    while wanted:
        module = wanted.popleft()
        if module not in selection.sources and module in release:
            selection.sources[module] = release[module]
        tree = parse(selection.sources[module][1]) if module in selection.sources else None
        if isinstance(tree, ast.Module):
            imports = relative_imports(tree, module, selection.sources[module][0])
            wanted += [found.name for found in imports if found.name not in selection.sources]


def find_module(tree: Tree, place: Place, module: str) -> str | None:
    """The file of a module of the submission, relative to its place: "layers.py", "tools/soft.py"; None without."""
    if f"{module}.py" in place.files:
        return f"{module}.py"
    folder, _, name = module.replace(".", "/").rpartition("/")
    for inside, file in ((folder, f"{name}.py"), (f"{folder}/{name}".strip("/"), "__init__.py")):
        if inside:
            tree.look_into(place.path(inside))
            if place.path(f"{inside}/{file}") in tree.sizes:
                return f"{inside}/{file}"
    return None


def add_module(selection: Selection, tree: Tree, place: Place, module: str, file: str) -> int:
    """Reads one module of the submission; returns its size."""
    try:
        content = tree.read(place.path(file))
        selection.hashes[file] = hashlib.sha256(content).hexdigest()
        selection.sources[module] = (file, decode(content))
    except RefusedError as error:
        selection.replace_unusable(module, f"{file}: {error}")
        return 0
    selection.submitted.add(module)
    return len(content)


def imports_of(selection: Selection, module: str, place: Place, package: str) -> list[str]:
    """The siblings that a module imports; adds notes on imports that cannot work."""
    tree = parse(selection.sources[module][1])
    if isinstance(tree, SyntaxError):
        return []  # the tests of its components report it
    path = selection.sources[module][0]
    siblings = [imported.name for imported in relative_imports(tree, module, path)]
    if module in selection.submitted:
        for name, line in absolute_imports(tree):
            first, _, rest = name.partition(".")
            if first == package or (not rest and f"{first}.py" in place.files):
                wanted = "." + (rest or ("" if first == package else first))
                what = f"imports {name}, which grading does not find; write `from {wanted} import …`"
                selection.notes.append(f"{path}, line {line} {what}")
    return siblings


def notes_on_others(tree: Tree, place: Place, selection: Selection, release: Sources, contract: Contract) -> list[str]:
    """Notes on files that have no effect although someone may expect one."""
    python = {file for file in place.files if file.endswith(".py")} - {f"{name}.py" for name in selection.submitted}
    idle = {file for file in python if file in NEVER_OURS}
    idle |= {path.rpartition("/")[2] for path in tree.sizes if path.endswith(NO_EFFECT) and "__pycache__" not in path}
    if "__init__.py" in python and not is_same(tree, place, "__init__.py", release["__init__"][1]):
        idle.add("__init__.py")
    notes = [f"no effect on grading: {some(idle)}"] if idle else []
    others = python - idle - {"__init__.py"} - {f"{name}.py" for name in release}
    for file in sorted(others):
        if meant := misnamed(file, place.files, contract):
            notes.append(f"{quote(file)} is ignored; did you mean {meant}?")
            others.discard(file)
    if others:
        notes.append(f"ignored, since the assignment's modules do not import them: {some(others)}")
    if any(file.endswith(".ipynb") for file in place.files):
        notes.append("the .py files were graded; the notebook beside them was ignored")
    return notes + notes_on_places(tree, place, selection, contract)


def notes_on_places(tree: Tree, place: Place, selection: Selection, contract: Contract) -> list[str]:
    """Notes on modules in other folders."""
    used = {place.folder, *(place.path(file).rpartition("/")[0] for file in selection.hashes)}
    having = [other for other in all_places(tree.sizes) if has_modules(other, contract)]
    elsewhere = [other for other in having if other.folder not in used]
    if not elsewhere:
        return []
    return [f"graded: the files in {place}; ignored: those in {', '.join(map(str, elsewhere[:3]))}"]


def misnamed(file: str, files: frozenset[str], contract: Contract) -> str | None:
    """The module's file that was probably meant by "Layers.py", "layers (1).py" or "layer.py"."""
    missing = [name for name in contract.files if name not in files]
    stem = file.removesuffix(".py").casefold().partition("(")[0].strip(" _-0123456789")
    nearest = difflib.get_close_matches(stem, [name.removesuffix(".py") for name in missing], n=1, cutoff=0.8)
    return f"{nearest[0]}.py" if nearest else None


def is_same(tree: Tree, place: Place, file: str, text: str) -> bool:
    """Whether a file of the submission has the release's text, apart from white space."""
    try:
        return decode(tree.read(place.path(file))).split() == text.split()
    except RefusedError:
        return False
