"""Kept by the trusted side: a submission's lines, its output, and what a person should know that it did."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from pathlib import Path

from foundation.places import ROOT
from foundation.texts import clean, with_comment

from ..intake.sources import KIT, Locate, Sources
from .replies import Failure

PIECE = 1 << 16
MOST_NOTICES = 50
NAME = re.compile(r"[\w./]{1,60}")
_FOLDERS = {str(ROOT), str(Path.home()), sys.prefix, sys.base_prefix, *map(sysconfig.get_path, ("stdlib", "purelib"))}
_LONGEST_FIRST = sorted((folder for folder in _FOLDERS if len(folder) > 1), key=len, reverse=True)
OUR_FOLDERS = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, _LONGEST_FIRST))})(?![\w.])")


def scrubbed(text: str) -> str:
    """Text of a submission without the folders in which the grader has its files."""
    return OUR_FOLDERS.sub("…", text)


class Lines:
    """The submission's lines, from our own copy of the sources: a worker only sends files and line numbers."""

    def __init__(self, files: Sources, locate: Locate) -> None:
        """Takes file and text of each module, and where a student finds a line."""
        self.modules = {file: module for module, (file, _) in files.items()}
        # As Python counts them: splitlines() also splits at form feeds.
        self._lines = {file: text.split("\n") for file, text in files.values()}
        self._locate = locate

    def quote(self, file: str, number: int, between: str = ": ") -> str:
        """The place of a line, and the line; "" where the submission has no such file, or it is the kit's."""
        if file not in self._lines or file.startswith(KIT):
            return ""
        lines = self._lines[file]
        line = lines[number - 1].strip()[:200] if 1 <= number <= len(lines) else ""
        return f"{self._locate(self.modules[file], number)}{between}{line}"

    def traceback(self, frames: list[tuple[str, int, str]]) -> str:
        """The quoted lines of file, line and function."""
        quoted = []
        for file, number, function in frames:
            name = function if function.isidentifier() or function in ("<module>", "<lambda>") else "?"
            quoted.append(self.quote(file, number, f", in {name}\n    "))
        return "\n".join(filter(None, quoted))

    def with_todo(self, failure: Failure) -> str:
        """The message of a TODO that is still there, with the text of its comment."""
        file, number, _ = failure.frames[-1] if failure.frames else ("", 0, "")
        return with_comment(failure.message, self._lines.get(file, [""]), number)


class Output:
    """A submission's output: the first `limit` bytes are kept, the rest is counted."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._seen = 0
        self._kept = bytearray()

    def collect(self, descriptor: int) -> None:
        """Reads a pipe without waiting, up to a bound."""
        for _ in range(16):
            try:
                data = os.read(descriptor, PIECE)
            except BlockingIOError:
                return
            if not data:
                return
            self._kept += data[: max(0, self.limit - self._seen)]
            self._seen += len(data)

    def text(self) -> str:
        """The kept output, cleaned, with a note where some was cut."""
        text = clean(scrubbed(self._kept.decode("utf-8", "replace")), self.limit)
        over = self._seen - self.limit
        return f"{text}\n[cut: {over} more bytes were printed]" if over > 0 else text


class Notices:
    """A list for a person to read: what submitted code did, by file, line and name, and undone refusals."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int, str]] = []  # module, line, audit event or attribute
        self.unguarded: list[str] = []  # components after whose calls forbidden kernels did not refuse

    def add(self, module: str, line: int, name: str) -> None:
        """Keeps a notice of a worker, who may have forged it: a few at most."""
        if len(self.seen) < MOST_NOTICES and NAME.fullmatch(name) and (module, line, name) not in self.seen:
            self.seen.append((module, line, name))
