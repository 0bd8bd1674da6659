"""One question and one answer over the pipes of a worker, within a deadline; its output is collected meanwhile."""

from __future__ import annotations

import os
import select
import time

from ..worker.frames import REPLY_LIMITS, FrameError, FrameReader
from .text import clean
from .zygote import Worker

PIECE = 1 << 16
READABLE = select.POLLIN | select.POLLHUP | select.POLLERR | select.POLLNVAL


class Deadline(Exception):
    """No complete answer came in time."""


class Gone(Exception):
    """The worker has closed its pipe: it has ended, as a rule."""


class Output:
    """What a submission prints: the first `limit` bytes are kept, the rest is counted."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.seen = 0
        self._kept = bytearray()

    def add(self, data: bytes) -> None:
        """Take what was printed."""
        self._kept += data[: max(0, self.limit - self.seen)]
        self.seen += len(data)

    def text(self) -> str:
        """What was kept, cleaned, with a note where something was cut."""
        text = clean(self._kept.decode("utf-8", "replace"), self.limit)
        over = self.seen - self.limit
        return f"{text}\n[cut: {over} more bytes were printed]" if over > 0 else text


class Connection:
    """Talks to one worker. After any exception from here the worker must be ended."""

    def __init__(self, worker: Worker, output: Output) -> None:
        self._worker = worker
        self._output = output

    def exchange(self, request: bytes, seconds: float) -> tuple[dict, bytes]:
        """Send a request and return the reply's header and body.

        Args:
            request: a frame; b"" to wait for a frame without asking.
            seconds: wall time for all of it.

        Raises:
            Deadline, Gone: see there.
            FrameError: for bytes that are no frame, too large a frame, or a reply before the request.
        """
        deadline = time.monotonic() + seconds
        if request and self._has_spoken():
            raise FrameError("the worker wrote before it was asked")
        unsent, reader = memoryview(request), FrameReader(REPLY_LIMITS)
        while True:
            ready = self._wait(bool(unsent), deadline)
            if self._worker.output in ready:
                self.collect_output()
            if unsent and self._worker.requests in ready:
                unsent = self._send(unsent)
            if self._worker.replies in ready:
                frame = self._receive(reader)
                if frame is not None:
                    self.collect_output()
                    return frame

    def collect_output(self) -> None:
        """Take what lies in the output pipe, without waiting and without end only within reason."""
        for _ in range(16):
            try:
                data = os.read(self._worker.output, PIECE)
            except BlockingIOError:
                return
            if not data:
                return
            self._output.add(data)

    def _wait(self, has_unsent: bool, deadline: float) -> set[int]:
        left = deadline - time.monotonic()
        if left <= 0:
            raise Deadline
        poll = select.poll()
        poll.register(self._worker.replies, select.POLLIN)
        if not self._is_output_closed():
            poll.register(self._worker.output, select.POLLIN)
        if has_unsent:
            poll.register(self._worker.requests, select.POLLOUT)
        return {descriptor for descriptor, _ in poll.poll(left * 1000 + 1)}

    def _is_output_closed(self) -> bool:
        """A closed pipe is always ready: it would turn waiting into a busy loop."""
        poll = select.poll()
        poll.register(self._worker.output, select.POLLIN)
        return any(event & select.POLLHUP and not event & select.POLLIN for _, event in poll.poll(0))

    def _has_spoken(self) -> bool:
        poll = select.poll()
        poll.register(self._worker.replies, select.POLLIN)
        return any(event & select.POLLIN for _, event in poll.poll(0))

    def _send(self, unsent: memoryview) -> memoryview:
        try:
            return unsent[os.write(self._worker.requests, unsent[:PIECE]) :]
        except BlockingIOError:
            return unsent
        except BrokenPipeError as error:
            raise Gone from error

    def _receive(self, reader: FrameReader) -> tuple[dict, bytes] | None:
        try:
            piece = os.read(self._worker.replies, min(reader.wanted, 1 << 20))
        except BlockingIOError:
            return None
        if not piece:
            raise Gone
        return reader.feed(piece)
