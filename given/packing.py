"""`pack`: the archive to hand in, opened once more to see what a grader will find in it."""

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
from .decoding import SOURCES

TRANSLATIONS = "translations.txt"
MOST_BYTES = {".py": 100_000, ".md": 20_000, ".txt": 10_000_000}  # what a grader reads
SECTION = re.compile(r"^##.*\n+[^#\s]", re.MULTILINE)
"""A heading with an answer below it."""
LEFT = re.compile(r"raise NotImplementedError\(.TODO ([\w.]+)")


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    parser.add_argument(
        "--output", type=Path, default=Path("submission.zip"), help="the archive (default: submission.zip)"
    )


def run(options: argparse.Namespace) -> int:
    """Writes the archive, reads it again, and says what is in it; returns 1 if a file cannot be graded."""
    folder = Path(str(sys.modules[package.name()].__file__)).parent
    files = collect(folder)
    with in_one_piece(options.output) as unfinished:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, path in files.items():
                archive.writestr(f"{folder.name}/{name}", path.read_bytes())
        with zipfile.ZipFile(unfinished) as archive:
            if damaged := archive.testzip():
                raise OSError(f"{options.output}: {damaged} came out damaged; is the disk full?")
    print(f"{options.output}: {len(files)} files, {options.output.stat().st_size / 1e3:,.0f} kB")
    for name, path in files.items():
        if name.endswith(".py"):
            for task in dict.fromkeys(LEFT.findall(path.read_text(encoding="utf-8", errors="replace"))):
                print(f"note: not finished: {task} ({name})")
    if ANSWERS in files and not SECTION.search(files[ANSWERS].read_text(encoding="utf-8", errors="replace")):
        print(f"note: nothing is written in {folder.name}/{ANSWERS}")
    problems = [*problems_of_code(folder), *problems_of_size(files)]
    if TRANSLATIONS in files:
        problems += problems_of_translations(files[TRANSLATIONS])
    else:
        print(f"note: no {folder.name}/{TRANSLATIONS}: without it the tasks of BLEU earn nothing")
    for problem in problems:
        print(f"{package.name()}: {problem}", file=sys.stderr)
    return int(bool(problems))


def collect(folder: Path) -> dict[str, Path]:
    """Returns the files to hand in, by their names below the package's folder."""
    files = {}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder)
        if not any(part[0] in "._" for part in name.parts[:-1]):  # such as .ipynb_checkpoints
            files[name.as_posix()] = path
    if (folder / ANSWERS).is_file():
        files[ANSWERS] = folder / ANSWERS
    beside = (path for path in (folder / TRANSLATIONS, folder.parent / TRANSLATIONS) if path.is_file())
    if translations := next(beside, None):
        files[TRANSLATIONS] = translations
    return files


def problems_of_code(folder: Path) -> Iterator[str]:
    """Names modules of the assignment that cannot be imported."""
    for module in package.MODULES:
        try:
            import_module(f"{package.name()}.{module}")
        except Exception as error:
            yield f"{folder.name}/{module}.py cannot be imported: {type(error).__name__}: {error}"


def problems_of_size(files: dict[str, Path]) -> Iterator[str]:
    """Names files that are larger than a grader reads."""
    for name, path in files.items():
        if (size := path.stat().st_size) > (most := MOST_BYTES[path.suffix]):
            yield f"{path}: {size:,} bytes; at most {most:,} are read ({name})"


def problems_of_translations(path: Path) -> Iterator[str]:
    """Compares the lines of the translations with those of the sources."""
    if not SOURCES.is_file():
        return
    lines = path.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()
    n_wanted = len(SOURCES.read_text(encoding="utf-8").splitlines())
    if len(lines) != n_wanted:
        yield f"{path}: {len(lines)} lines; expected {n_wanted}, one for each line of {SOURCES}"
