"""What students get works without what Windows lacks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from release.contents import collect_kit
from release.gates import write_all
from release.packing import make_zip
from release.skeleton import make_skeleton, read_folder
from release.trials import INSTALLED, unpack


@pytest.fixture(scope="module")
def kit(tmp_path_factory) -> Path:
    """The students' folder, with every task solved."""
    solved, assignment = read_folder(ROOT / "reference"), read_assignment()
    skeleton = make_skeleton(solved, assignment, "reference").files
    folder = unpack(make_zip(collect_kit(ROOT, assignment, skeleton, b"")), tmp_path_factory.mktemp("kit"))
    write_all({path: content for path, content in solved.items() if path in skeleton}, folder / assignment.package)
    return folder


def run(kit: Path, *command: str) -> str:
    paths = Path(__file__).with_name("without_posix"), kit.parent / INSTALLED
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *command], cwd=kit, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_students_test_train_and_translate(kit):
    assert " passed" in run(kit, "-m", "pytest", "-q", "-m", "task_1_1 or given")
    short = ("--preset", "fast", "--max-steps", "2", "--samples", "0", "--max-length", "3")
    run(kit, "-m", "student", "train", *short, "--output", "runs/short")
    run(kit, "-m", "student", "translate", "--checkpoint", "runs/short/best.pt", "--output", "translations.txt")
    assert len((kit / "translations.txt").read_text("utf-8").splitlines()) == 971
    run(kit, "grade.py", "--help")
