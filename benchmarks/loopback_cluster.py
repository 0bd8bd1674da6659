"""A Dask cluster on this machine: a scheduler, and workers that each grade one submission at a time."""

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Self

from foundation.places import ROOT

START_SECONDS = 60.0
END_SECONDS = 10.0


class LoopbackCluster:
    """Used in a with-block, after which none of its processes is left.

    Attributes:
        workers: their processes, in the order in which they were started.
    """

    def __init__(self, n_workers: int) -> None:
        """Starts nothing yet."""
        self._n_workers = n_workers
        self._folder = tempfile.TemporaryDirectory(prefix="cluster-")
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        """Starts the scheduler and the workers; returns as soon as all have joined."""
        self._file = Path(self._folder.name, "scheduler.json")
        self._scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-show")
        self.address = self._address()
        for _ in range(self._n_workers):
            self.add_worker()
        self._wait_for_workers()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends all."""
        for process in (*self.workers, self._scheduler):
            process.terminate()
        for process in (*self.workers, self._scheduler):
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._folder.cleanup()

    def add_worker(self) -> None:
        """Starts one more, which joins when it is ready."""
        options = ("--no-nanny", "--nthreads", "1", "--local-directory", self._folder.name)
        self.workers.append(self._start("worker", self.address, "--host", "127.0.0.1", *options))

    def kill_scheduler(self) -> None:
        """Ends the scheduler at once, as a power failure would."""
        self._scheduler.kill()
        self._scheduler.wait()

    def _start(self, kind: str, *options: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "dask", kind, *options, "--no-dashboard"]
        if kind == "scheduler":
            command += ["--scheduler-file", str(self._file)]
        with Path(self._folder.name, f"{kind}-{len(self.workers)}.log").open("wb") as log:
            return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)  # noqa: S603  our own command

    def _address(self) -> str:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, ValueError):
                return str(json.loads(self._file.read_text())["address"])
            time.sleep(0.05)
        raise RuntimeError("no Dask scheduler has started")

    def _wait_for_workers(self) -> None:
        from distributed import Client  # here: the other measurements do without

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(self._n_workers, timeout=START_SECONDS)
