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

from .assignment_folder import FAR, Place, all_places, has_modules, is_notebook, level_of, some
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
        wanted += imports_of(selection, module, tree, place, assignment.package)
    spelling: dict[str, str] = {}
    for file in selection.hashes:
        if (other := spelling.setdefault(file.casefold(), file)) != file:
            raise RefusedError(f"{quote(file)} and {quote(other)} differ only in case; rename one")
    selection.notes += notes_on_others(tree, place, selection, release, assignment)
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
    path = module.replace(".", "/")
    for file in (f"{path}.py", f"{path}/__init__.py"):
        tree.look_into(place.path(file).rpartition("/")[0])
        if tree.find(place.path(file)):
            return file
    return None


def add_module(selection: Selection, tree: Tree, place: Place, module: str, file: str) -> int:
    """Reads one module of the submission; returns its size.

    Raises:
        RefusedError: where it cannot be read. What Python itself does not read costs the module alone.
    """
    try:
        content = tree.read(place.path(file))
    except RefusedError as error:
        raise RefusedError(f"{quote(place.path(file))}: {error}") from None
    selection.hashes[file] = hashlib.sha256(content).hexdigest()
    try:
        selection.sources[module] = (file, decode(content))
        selection.submitted.add(module)
    except RefusedError as error:
        selection.replace_unusable(module, f"{file}: {error}")
    return len(content)


def imports_of(selection: Selection, module: str, tree: Tree, place: Place, package: str) -> list[str]:
    """The siblings that a module imports; adds notes on imports that cannot work."""
    parsed = parse(selection.sources[module][1])
    if isinstance(parsed, SyntaxError):
        return []  # the tests of its components report it
    path = selection.sources[module][0]
    siblings = [imported.name for imported in relative_imports(parsed, module, path)]
    if module in selection.submitted:
        for name, line in absolute_imports(parsed):
            first, _, rest = name.partition(".")
            if first == package or (not rest and tree.find(place.path(f"{first}.py"))):
                wanted = "." + (rest or ("" if first == package else first))
                what = f"imports {name}, which grading does not find; write `from {wanted} import …`"
                selection.notes.append(f"{path}, line {line} {what}")
    return siblings


def notes_on_others(
    tree: Tree, place: Place, selection: Selection, release: Sources, assignment: Assignment
) -> list[str]:
    """Notes on files that have no effect although someone may expect one."""
    places = [one for one in all_places(tree.sizes.keys() - tree.odd) if level_of(one.folder, assignment.package) < FAR]
    files = frozenset(file for one in places if one.folder == place.folder for file in one.files)
    python = {file for file in files if file.endswith(".py")} - {f"{name}.py" for name in selection.submitted}
    idle = {file for file in python if file in NEVER_OURS}
    idle |= {file for one in places for file in one.files if file.endswith(NO_EFFECT)}
    if "__init__.py" in python and not is_same(tree, place, "__init__.py", release["__init__"][1]):
        idle.add("__init__.py")
    notes = [f"no effect on grading: {some(idle)}"] if idle else []
    others = python - idle - {"__init__.py"} - {f"{name}.py" for name in release}
    for file in sorted(others):
        if meant := misnamed(file, files, assignment.contract):
            notes.append(f"{quote(file)} is ignored; did you mean {meant}?")
            others.discard(file)
    if others:
        notes.append(f"ignored, since the assignment's modules do not import them: {some(others)}")
    if any(map(is_notebook, files)):
        notes.append("the .py files were graded; the notebook beside them was ignored")
    used = {place.folder, *(place.path(file).rpartition("/")[0] for file in selection.hashes)}
    elsewhere = [str(one) for one in places if has_modules(one, assignment.contract) and one.folder not in used]
    if elsewhere:
        notes.append(f"graded: the files in {place}; ignored: those in {', '.join(elsewhere[:3])}")
    return notes


def misnamed(file: str, files: frozenset[str], contract: Contract) -> str | None:
    """The module's file that was probably meant by "Layers.py", "layers_2.py" or "layer.py"."""
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
