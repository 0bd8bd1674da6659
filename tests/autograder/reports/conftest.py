"""A container like Gradescope's, made with bubblewrap: its folders, its rights, its memory.

The processes in it are root with the capabilities that Docker leaves, and cannot make namespaces. The image is made
by the archive's own `setup.sh`.
"""

import errno
import io
import json
import os
import subprocess
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyseccomp
import pytest

from foundation.places import ROOT
from release.build import Project, make_release

CAPABILITIES = [
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "NET_BIND_SERVICE",
    "NET_RAW",
    "SYS_CHROOT",
    "MKNOD",
    "AUDIT_WRITE",
    "SETFCAP",
]
NEW_NAMESPACE = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
SECONDS = 540


@dataclass
class Run:
    """What a command in the container came to: exit status, output, and the most memory of all its processes."""

    status: int
    output: str
    peak_mb: float


class Container:
    """`/autograder` is a folder of ours, all else is this machine's, read-only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *command: str) -> Run:
        """Runs a command as root; measures memory all the while."""
        with tempfile.TemporaryFile() as rules, tempfile.TemporaryFile() as output:
            rules.write(without_namespaces())
            rules.seek(0)
            wrapped = [*self._bubblewrap(), "--seccomp", str(rules.fileno()), *command]
            with subprocess.Popen(wrapped, stdout=output, stderr=output, pass_fds=[rules.fileno()]) as process:
                peak = [0.0]
                done = threading.Event()
                meter = threading.Thread(target=measure, args=(process.pid, peak, done))
                meter.start()
                try:
                    status = process.wait(SECONDS)
                finally:
                    process.kill()
                    done.set()
                    meter.join()
            output.seek(0)
            return Run(status, output.read().decode("utf-8", "replace"), peak[0])

    def grade(self, files: dict[str, str], metadata: dict | None = None) -> tuple[dict, Run]:
        """Hands in files and runs `run_autograder` as Gradescope does; the results and how it went."""
        submission = self.folder / "submission"
        for old in submission.iterdir():
            old.unlink()
        for name, text in files.items():
            (submission / name).write_text(text)
        (self.folder / "submission_metadata.json").write_text(json.dumps(metadata or {}))
        results = self.folder / "results" / "results.json"
        results.unlink(missing_ok=True)
        run = self.run("/autograder/run_autograder")
        return json.loads(results.read_text()), run

    def _bubblewrap(self) -> list[str]:
        options = ["bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--cap-drop", "ALL"]
        options += [option for name in CAPABILITIES for option in ("--cap-add", f"CAP_{name}")]
        for path in sorted(Path("/").iterdir()):
            if path.name in ("proc", "dev", "sys", "tmp", "autograder"):
                continue
            if path.is_symlink():
                options += ["--symlink", str(path.readlink()), str(path)]
            else:
                options += ["--ro-bind", str(path), str(path)]
        return [*options, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", self.folder, "/autograder"]


def without_namespaces() -> bytes:
    """A filter that denies what Docker's denies to make namespaces and mounts."""
    policy = pyseccomp.SyscallFilter(defaction=pyseccomp.ALLOW)
    for name in ("unshare", "setns", "mount", "umount2", "pivot_root", "ptrace"):
        policy.add_rule(pyseccomp.ERRNO(errno.EPERM), name)
    policy.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")  # its flags cannot be looked at: the C library falls back
    for flag in NEW_NAMESPACE:
        policy.add_rule(pyseccomp.ERRNO(errno.EPERM), "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
    with tempfile.TemporaryFile() as file:
        policy.export_bpf(file)
        file.seek(0)
        return file.read()


def measure(pid: int, peak: list[float], done: threading.Event) -> None:
    """Keeps the greatest sum, in MB, of what a process and its descendants have in memory; shared pages once."""
    while not done.wait(0.05):
        peak[0] = max(peak[0], sum(map(resident_mb, family_of(pid))))


def family_of(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from family_of(int(child))


def resident_mb(pid: int) -> float:
    """The process's share of memory; 0 where it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


@pytest.fixture(scope="session")
def container(tmp_path_factory: pytest.TempPathFactory) -> Container:
    """An image that the release's own archive has set up."""
    folder = tmp_path_factory.mktemp("autograder")
    index = os.environ.get("TORCH_INDEX", "")
    release = make_release(Project(ROOT, ROOT / "reference", ROOT, index))
    with zipfile.ZipFile(io.BytesIO(release.outputs["dist/gradescope.zip"])) as archive:
        archive.extractall(folder / "source")
    for name in ("submission", "results"):
        (folder / name).mkdir()
    made = Container(folder)
    run = made.run("bash", "/autograder/source/setup.sh")
    assert run.status == 0, run.output
    program = folder / "run_autograder"  # Gradescope puts it there, and makes it executable
    program.write_bytes((folder / "source" / "run_autograder").read_bytes())
    program.chmod(0o755)
    return made
