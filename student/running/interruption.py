"""Ctrl-C at a safe point: what has been trained is saved first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interruption:
    """Notes the first Ctrl-C instead of raising KeyboardInterrupt; a second one is raised at once.

        stop = Interruption()
        with stop.watch():
            while not stop.is_asked:
                …

    Attributes:
        is_asked: whether the user has pressed Ctrl-C.
    """

    def __init__(self) -> None:
        """Notes nothing until the with-block begins."""
        self.is_asked = False
        self._is_immediate = False

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Notes Ctrl-C for the length of a with-block. Only the main thread can do that; elsewhere nothing changes."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def immediately(self) -> Iterator[None]:
        """Raises KeyboardInterrupt at once after all, where nothing can be lost."""
        self._is_immediate = True
        try:
            yield
        finally:
            self._is_immediate = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.is_asked or self._is_immediate:
            raise KeyboardInterrupt
        self.is_asked = True
