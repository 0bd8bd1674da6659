"""Public implementations: what describes them, where their files come from, and how they become a submission.

A description is a file `assignment/outside/NAME.toml`. It has an adapter of ours, and no line of theirs.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.intake.cells import as_python, read_notebook
from autograder.intake.sources import ADAPTERS
from autograder.sandbox.worker.loading import is_available
from foundation.command_line import UserError

HOST = "https://github.com"
MOST_LINES = 40


class OutsideError(UserError):
    """A repository cannot be examined; the message says why."""


@dataclass(frozen=True)
class Repository:
    """A public implementation."""

    id: str  # the name of its description
    name: str  # "owner/name"
    commit: str  # that is examined
    licence: str  # "none" gives no permission to copy
    kind: str  # of text or code
    files: tuple[str, ...]  # paths there; notebooks become modules of their code
    adapter: str  # the text of `adapters.py`, ours
    root: str = ""  # the folder from which files are imported, "" = the top
    scripts: bool = False  # whether only definitions, constants and imports of the files count
    keep: tuple[str, ...] = ()  # the names of the definitions that count, where a file is too large; none = all
    findings: dict[str, dict[str, str]] = field(default_factory=dict)  # task -> item -> "right: why", by a person


def read_repositories(folder: Path) -> list[Repository]:
    """All descriptions in a folder, by file name.

    Raises:
        OutsideError: naming the file and what is wrong.
    """
    repositories = []
    for path in sorted(folder.glob("*.toml")):
        try:
            one = Repository(path.stem, **tomllib.loads(path.read_text(encoding="utf-8")))
        except (tomllib.TOMLDecodeError, TypeError) as error:
            raise OutsideError(f"{path}: {error}") from None
        if one.adapter.count("\n") > MOST_LINES:
            raise OutsideError(f"{path}: the adapter has {one.adapter.count(chr(10))} lines; at most {MOST_LINES}")
        repositories.append(one)
    return repositories


def clone_of(repository: Repository, folder: Path, is_fetched: bool) -> Path:
    """The clone of a repository, in FOLDER/owner+name; fetched first, if asked for and missing."""
    clone = folder / repository.name.replace("/", "+")
    if is_fetched and not clone.exists():
        run_git("clone", "--quiet", "--filter=blob:none", "--no-checkout", f"{HOST}/{repository.name}", str(clone))
    if not clone.is_dir():
        raise OutsideError(f"{clone}: no such folder; clone {HOST}/{repository.name} there, or give --fetch")
    return clone


def run_git(*words: str) -> bytes:
    """What git prints. Raises: OutsideError with the last line of what it complains of."""
    done = subprocess.run(["git", *words], capture_output=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise OutsideError(done.stderr.decode(errors="replace").strip().rpartition("\n")[2])
    return done.stdout


def write_submission(repository: Repository, clone: Path, folder: Path) -> None:
    """Writes the files at the commit, and the adapter, as a submission."""
    names = {file: importable(file.removeprefix(f"{repository.root}/")) for file in repository.files}
    own = {str(Path(name).with_suffix("")).replace("/", ".") for name in names.values()}
    for file, name in names.items():
        path = (folder / name).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        content = run_git("-C", str(clone), "show", f"{repository.commit}:{file}")
        text = code_of(content, file) if file.endswith(".ipynb") else content.decode("utf-8-sig")
        path.write_text(definitions_of(text, own, repository.keep) if repository.scripts else text, encoding="utf-8")
    (folder / f"{ADAPTERS}.py").write_text(repository.adapter, encoding="utf-8")


def importable(file: str) -> str:
    """The path of a file as modules may be called; "notebook_6___Attention.ipynb"."""
    return re.sub(r"(^|/)(?=\d)", r"\1notebook_", re.sub(r"[- ()]", "_", file))


def code_of(notebook: bytes, name: str) -> str:
    """The code of a notebook, as IPython reads its cells."""
    return "\n".join(as_python(cell.text) for cell in read_notebook(notebook, name) if not cell.is_text)


def definitions_of(text: str, own: set[str], keep: Sequence[str]) -> str:
    """A script's definitions, constants and imports of what is there; the rest would run when a test imports it."""
    lines = text.split("\n")
    for node in ast.parse(text).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                is_kept = not keep or name in keep
            case ast.Import(names=aliases):
                is_kept = all(is_available(alias.name) or alias.name in own for alias in aliases)
            case ast.ImportFrom(module=str(module), level=level):
                is_there = any(name == module or name.endswith(f".{module}") for name in own)
                is_kept = is_there or (not level and is_available(module) and not module.startswith("IPython"))
            case ast.Assign():
                is_kept = not any(isinstance(one, ast.Call) for one in ast.walk(node))
            case _:
                is_kept = False
        if not is_kept:
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            lines[first - 1 : node.end_lineno] = [""] * ((node.end_lineno or 0) - first + 1)
    return "\n".join(lines)
