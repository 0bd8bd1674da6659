"""`pack`: the archive to hand in, and what a grader will find in it."""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from foundation.places import ANSWERS
from foundation.whole_files import in_one_piece

from . import package
from .decoding import SOURCES, TRANSLATIONS

MOST_BYTES = {".py": 100_000, ".md": 20_000, ".txt": 10_000_000}  # what a grader reads
SECTION = re.compile(r"^##.*\n+[^#\s]", re.MULTILINE)
"""A heading with an answer below it."""
LEFT = re.compile(r"raise NotImplementedError\(.TODO ([\w.]+)")


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    text = "the archive (default: submission.zip)"
    parser.add_argument("--output", type=Path, default=Path("submission.zip"), help=text)


def run(options: argparse.Namespace) -> int:
    """Writes the archive, and says what is in it; returns 1 if a file cannot be graded."""
    folder = Path(str(sys.modules[package.name()].__file__)).parent
    files = collect(folder)
    with in_one_piece(options.output) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in files.items():
            archive.writestr(f"{folder.name}/{name}", path.read_bytes())
    print(f"{options.output}: {len(files)} files, {options.output.stat().st_size / 1e3:,.0f} kB")
    for note in notes(folder, files):
        print(f"note: {note}")
    found = list(problems(folder, files))
    for problem in found:
        print(f"{package.name()}: {problem}", file=sys.stderr)
    return int(bool(found))


def collect(folder: Path) -> dict[str, Path]:
    """Returns the files to hand in, by their names below the package's folder."""
    files = {}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder)
        if not any(part[0] in "._" for part in name.parts[:-1]):  # such as .ipynb_checkpoints
            files[name.as_posix()] = path
    others = [(ANSWERS, folder), (TRANSLATIONS.name, folder.parent), (TRANSLATIONS.name, folder)]
    return files | {name: place / name for name, place in others if (place / name).is_file()}


def notes(folder: Path, files: dict[str, Path]) -> Iterator[str]:
    """Yields what is not finished or missing."""
    texts = {name: path.read_text(encoding="utf-8", errors="replace") for name, path in files.items()}
    for name, text in texts.items():
        if name.endswith(".py"):
            yield from (f"not finished: {task} ({name})" for task in dict.fromkeys(LEFT.findall(text)))
    if ANSWERS in files and not SECTION.search(texts[ANSWERS]):
        yield f"nothing is written in {folder.name}/{ANSWERS}"
    if TRANSLATIONS.name not in files:
        yield f"no {folder.name}/{TRANSLATIONS}: without it the tasks of BLEU earn nothing"


def problems(folder: Path, files: dict[str, Path]) -> Iterator[str]:
    """Yields what cannot be graded: modules that fail, files that are too large, a wrong number of translations."""
    for module in package.MODULES:
        try:
            import_module(f"{package.name()}.{module}")
        except Exception as error:
            yield f"{folder.name}/{module}.py cannot be imported: {type(error).__name__}: {error}"
    for name, path in files.items():
        if (size := path.stat().st_size) > (most := MOST_BYTES[path.suffix]):
            yield f"{path}: {size:,} bytes; at most {most:,} are read ({name})"
    if TRANSLATIONS.name in files and SOURCES.is_file():
        path = files[TRANSLATIONS.name]
        n_lines = len(path.read_text(encoding="utf-8", errors="replace").rstrip().splitlines())
        n_wanted = len(SOURCES.read_text(encoding="utf-8").splitlines())
        if n_lines != n_wanted:
            yield f"{path}: {n_lines} lines; expected {n_wanted}, one for each line of {SOURCES}"
