"""Kept by the trusted side: a submission's lines, its output, its use of limits, and a list for a person to read."""

import os
import re
import sys
import sysconfig
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from foundation.assignment_tables import Limits
from foundation.places import ROOT
from foundation.texts import clean, with_comment

from ..intake.sources import KIT, Locate, Sources
from .errors import SandboxUnavailableError, SubmissionDiedError, SubmissionError, SubmissionTimeoutError
from .replies import Failure

PIECE = 1 << 16
MOST_NOTICES = 500
CPU_GRAIN = 0.1
"""Seconds. With less than this left no new worker is started, since its limit counts whole seconds."""
NAME = re.compile(r"[\w./, ]{1,200}")
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
        file, number, _ = [("", 0, ""), *failure.frames][-1]
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
            data = b""
            with suppress(BlockingIOError):
                data = os.read(descriptor, PIECE)
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


class Budget:
    """The account of a submission: what it has used of its limits, and whether they cover another call.

    There is one total of wall time, one of CPU time, and a count of failures per component, so that a fault costs only
    its own component and an endless loop costs little. Nor may one component use up the time of the others by calls
    that each stay within their limit: it gets no more than its failures would cost, and never more than it leaves them.
    """

    def __init__(self, limits: Limits, is_fair: bool) -> None:
        self.cpu_seconds = 0.0  # of all workers that have ended
        self.failure: SandboxUnavailableError | None = None  # of the sandbox itself, after which nothing more is done
        self._limits, self._is_fair = limits, is_fair
        self._seconds_of: defaultdict[str, float] = defaultdict(float)
        self._failures: defaultdict[str, list[type[SubmissionError]]] = defaultdict(list)

    @property
    def seconds(self) -> float:
        """Wall time spent waiting for submitted code."""
        return sum(self._seconds_of.values())

    @property
    def cpu_left(self) -> float:
        """CPU seconds that workers may still use."""
        return self._limits.cpu_seconds - self.cpu_seconds

    def renew_time(self) -> None:
        """Gives another total of wall time, which a busy machine uses up; CPU time and failures stay counted."""
        self._seconds_of.clear()

    def check_sandbox(self) -> None:
        """Raises SandboxUnavailableError where the sandbox has failed: no result since then counts."""
        if self.failure is not None:
            raise self.failure

    def check(self, component: str) -> None:
        """Refuses a call that the limits do not cover, or a sandbox that has failed."""
        self.check_sandbox()
        limits, used = self._limits, self._seconds_of[component]
        left = limits.total_seconds - self.seconds
        if left <= 0:
            raise SubmissionTimeoutError(f"the submission's total of {limits.total_seconds:.3g} s is used up")
        if self.cpu_left < CPU_GRAIN:
            raise SubmissionTimeoutError(f"the submission's CPU time of {limits.cpu_seconds} s is used up")
        if self._is_fair and used >= min(left, limits.call_seconds * limits.failures_a_component):
            raise SubmissionTimeoutError(f"{component} was skipped after {used:.3g} s in all")
        failures = self._failures[component]
        if len(failures) >= limits.failures_a_component:
            raise failures[0](f"{component} was skipped after {len(failures)} timeouts or crashes")

    @contextmanager
    def spent_by(self, component: str) -> Iterator[float]:
        """A block in which code of a component runs, for so many seconds at most; failures in it are counted."""
        self.check(component)
        started = time.monotonic()
        try:
            yield min(self._limits.call_seconds, self._limits.total_seconds - self.seconds)
        except (SubmissionTimeoutError, SubmissionDiedError) as error:
            self._failures[component].append(type(error))
            raise
        except SandboxUnavailableError as error:
            self.failure = error
            raise
        finally:
            self._seconds_of[component] += time.monotonic() - started
