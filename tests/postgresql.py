"""A PostgreSQL for tests; `tests/conftest.py` has it as a fixture."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path


class Server:
    """A PostgreSQL of our own on the loopback, in a temporary folder."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        if os.geteuid() == 0:  # it refuses to run as root
            shutil.chown(self.folder, "postgres", "postgres")
        self._run("initdb", "-D", "data", "-A", "trust", "-U", "postgres", "--no-sync")
        self.start()

    def start(self) -> None:
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder} -F"
        self._run("pg_ctl", "-D", "data", "-w", "-o", options, "-l", "log", "start")

    def halt(self) -> None:
        """Drops all connections at once, in whatever transaction they are."""
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "stop")

    def create(self, name: str) -> str:
        """Makes a database; its URL."""
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", name)
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def stop(self) -> None:
        self.halt()
        shutil.rmtree(self.folder)

    def _run(self, program: str, *arguments: str) -> None:
        found = shutil.which(program) or max(map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{program}")))
        user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*user, found, *arguments]
        subprocess.run(command, cwd=self.folder, check=True, stdout=subprocess.DEVNULL, timeout=60)
