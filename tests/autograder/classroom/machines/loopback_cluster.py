"""A Dask cluster on this machine: a scheduler, and workers that each grade one submission at a time."""

import contextlib
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

from benchmarks.processes import has_ended, start

START_SECONDS = 60.0
END_SECONDS = 10.0


class LoopbackCluster:
    """Used in a with-block, after which none of its processes is left.

    Attributes:
        address: of the scheduler.
        workers: their processes, in the order in which they were started.
    """

    def __init__(self, n_workers: int) -> None:
        """Starts the scheduler and the workers; returns as soon as all have joined."""
        from distributed import Client  # here: only these tests need it

        self._folder = tempfile.TemporaryDirectory(prefix="cluster-")
        file = Path(self._folder.name, "scheduler.json")
        options = ("--host", "127.0.0.1", "--port", 0, "--no-show", "--no-dashboard", "--scheduler-file", file)
        self.scheduler = start("-m", "dask", "scheduler", *options)
        self.address = address_in(file)
        self.workers: list[subprocess.Popen[bytes]] = []
        for _ in range(n_workers):
            self.add_worker()
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=START_SECONDS)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends all."""
        processes = (*self.workers, self.scheduler)
        for process in processes:
            process.terminate()
        for process in processes:
            if not has_ended(process, END_SECONDS):
                process.kill()
                process.wait()
        self._folder.cleanup()

    def add_worker(self) -> None:
        """Starts one more, which joins when it is ready."""
        options = ("--no-nanny", "--nthreads", 1, "--no-dashboard", "--local-directory", self._folder.name)
        self.workers.append(start("-m", "dask", "worker", self.address, "--host", "127.0.0.1", *options))


def address_in(file: Path) -> str:
    """The address that a scheduler writes into its file as soon as it has one."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.05)
    raise RuntimeError("no Dask scheduler has started")
