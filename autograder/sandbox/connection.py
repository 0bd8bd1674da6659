"""Exchanges one request and one reply with a worker within a deadline, and collects its output meanwhile."""

from __future__ import annotations

import os
import re
import select
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

from foundation.places import ROOT
from foundation.texts import clean

from .worker.messages import REPLY_LIMITS, FrameError, FrameReader
from .zygote import Worker

PIECE = 1 << 16
_FOLDERS = {str(ROOT), str(Path.home()), sys.prefix, sys.base_prefix, *map(sysconfig.get_path, ("stdlib", "purelib"))}
_LONGEST_FIRST = sorted((folder for folder in _FOLDERS if len(folder) > 1), key=len, reverse=True)
OUR_FOLDERS = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, _LONGEST_FIRST))})(?![\w.])")
"""The folders of the grader, of Python and of the packages, as they begin a path."""


class DeadlineError(Exception):
    """There was no complete reply in time."""


class WorkerGoneError(Exception):
    """The worker has closed its pipe, usually because it has ended."""


class Output:
    """A submission's output: the first `limit` bytes are kept, the rest is counted."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.seen = 0
        self._kept = bytearray()

    def add(self, data: bytes) -> None:
        """Adds printed bytes."""
        self._kept += data[: max(0, self.limit - self.seen)]
        self.seen += len(data)

    def text(self) -> str:
        """The kept output, cleaned, with a note where some was cut."""
        text = clean(scrub(self._kept.decode("utf-8", "replace")), self.limit)
        over = self.seen - self.limit
        return f"{text}\n[cut: {over} more bytes were printed]" if over > 0 else text


def scrub(text: str) -> str:
    """Text of the submission without the places of the grader's files."""
    return OUR_FOLDERS.sub("…", text)


class Connection:
    """Talks to one worker. After any exception from here the worker must be ended."""

    def __init__(self, worker: Worker, output: Output) -> None:
        self._worker = worker
        self._output = output
        self._poll = select.poll()
        self._poll.register(worker.replies, select.POLLIN)
        self._poll.register(worker.output, select.POLLIN)

    def exchange(self, request: bytes, seconds: float) -> tuple[dict[str, Any], bytes]:
        """Sends a request and returns the reply's header and body.

        Args:
            request: a frame; b"" to wait for a frame without a request.
            seconds: wall time for the whole exchange.

        Raises:
            DeadlineError: where there is no complete reply in time.
            WorkerGoneError: where the worker has closed its pipe.
            FrameError: for bytes that are not a frame, too large a frame, or a reply before the request.
        """
        deadline = time.monotonic() + seconds
        reader = FrameReader(REPLY_LIMITS)
        if request and self._read(1) is not None:
            raise FrameError("the worker wrote before it was asked")
        unsent = self._send(memoryview(request))
        if unsent:
            self._poll.register(self._worker.requests, select.POLLOUT)
        while True:
            ready = self._wait(deadline)
            if ready.get(self._worker.output):
                self.collect_output()
                if ready[self._worker.output] == select.POLLHUP:  # closed: it would always be ready
                    self._poll.unregister(self._worker.output)
            if unsent and self._worker.requests in ready:
                unsent = self._send(unsent)
                if not unsent:
                    self._poll.unregister(self._worker.requests)
            if self._worker.replies in ready:
                frame = self._receive(reader)
                if frame is not None:
                    self.collect_output()
                    return frame

    def collect_output(self) -> None:
        """Reads the output pipe without waiting, up to a bound."""
        for _ in range(16):
            try:
                data = os.read(self._worker.output, PIECE)
            except BlockingIOError:
                return
            if not data:
                return
            self._output.add(data)

    def _wait(self, deadline: float) -> dict[int, int]:
        left = deadline - time.monotonic()
        if left <= 0:
            raise DeadlineError
        return dict(self._poll.poll(left * 1000 + 1))

    def _send(self, unsent: memoryview) -> memoryview:
        try:
            while unsent:
                unsent = unsent[os.write(self._worker.requests, unsent) :]
        except BlockingIOError:
            pass
        except BrokenPipeError as error:
            raise WorkerGoneError from error
        return unsent

    def _receive(self, reader: FrameReader) -> tuple[dict[str, Any], bytes] | None:
        """Reads the available bytes; returns the frame once it is complete."""
        for _ in range(64):
            piece = self._read(min(reader.wanted, 1 << 20))
            frame = reader.feed(piece) if piece else None
            if piece is None or frame is not None:
                return frame
        return None

    def _read(self, size: int) -> bytes | None:
        """Up to `size` bytes of the reply pipe; None if there are none now.

        Raises:
            WorkerGoneError: at the end of the pipe.
        """
        try:
            piece = os.read(self._worker.replies, size)
        except BlockingIOError:
            return None
        if not piece:
            raise WorkerGoneError
        return piece
