"""What goes to Gradescope: the two programs that it runs, the grader, the skeleton, the references and the secret.

`setup.sh` and `run_autograder` lie in `gradescope_container/` and are packed as they are. `requirements.txt` lists the
packages for the image, in the versions that are installed here, with which the gates have passed.
"""

from collections.abc import Mapping
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.places import REFERENCES
from foundation.term_secret import SECRET, term_secret

from ..problems import Problem, ReleaseError
from .needed_modules import needed_modules
from .packing import make_tar_xz
from .pinned_versions import pin
from .student import ASSIGNMENT, FOUNDATION, GRADER, read_packages, starts_of_tests

PROGRAMS = ("run_autograder", "setup.sh")

GRADER_ARCHIVE = "grader.tar.xz"
"""The grader and the skeleton; `setup.sh` unpacks it beside itself."""

FILES = Path(__file__).with_name("gradescope_container")

ENTRY = f"{GRADER}/reports/gradescope/__main__.py"

TRAINING_CHECK = f"{GRADER}/assignment/training_check.py"
CATALOGUE = f"{GRADER}/assignment/misconceptions/"
EQUIVALENTS = f"{GRADER}/assignment/proof/equivalents.toml"
HANDOUT = f"{GRADER}/assignment/handout.md"
"""Quotes the reference, so neither travels: failures are not named there, and a smallest case stands in their place."""

PACKAGES = (
    *("torch", "numpy", "pytest", "allpairspy", "sacrebleu", "safetensors", "tqdm", "pydantic"),
    *("matplotlib", "ipython", "ipywidgets"),
)
"""What grading imports, and what submissions may; students' notebooks need more."""


def collect_gradescope(
    root: Path, assignment: Assignment, skeleton: Mapping[str, bytes], index: str
) -> dict[str, bytes]:
    """All files of the archive by path.

    Args:
        root: of the project.
        assignment: that is graded; without BLEU, there are no references.
        skeleton: the files of the students' package by path: what a submission lacks is taken from there.
        index: of CPU-only builds of PyTorch, for pip; empty: whatever pip's own settings there lead to.

    Raises:
        ReleaseError: where a file that belongs in it is missing.
        SecretError: where the term's secret cannot be used.
    """
    grader = read_packages(root)
    problems = []
    if ENTRY not in grader:
        problems.append(Problem(ENTRY, 0, "does not exist", "Gradescope's run_autograder calls it"))
    if assignment.judges_translations and not (root / REFERENCES).is_file():
        how = "make the corpus: python -m data generate"
        problems.append(Problem(REFERENCES.as_posix(), 0, "does not exist", how))
    if problems:
        raise ReleaseError(problems)
    inner = {path: grader[path] for path in _needed(grader)}
    inner |= {f"{assignment.package}/{path}": content for path, content in skeleton.items()}
    files = {GRADER_ARCHIVE: make_tar_xz(inner)}
    files |= {name: (FILES / name).read_bytes() for name in PROGRAMS}
    if assignment.judges_translations:
        files[REFERENCES.as_posix()] = (root / REFERENCES).read_bytes()
    files[SECRET.as_posix()] = term_secret(root)
    files["requirements.txt"] = _requirements(index)
    return files


def _needed(grader: Mapping[str, bytes]) -> set[str]:
    """The modules that the entry and the tests import, and those that are loaded by their path."""
    by_path = [
        path
        for path in grader
        if path == TRAINING_CHECK or (path.endswith(".py") and path.startswith(f"{GRADER}/sandbox/worker/"))
    ]
    modules = needed_modules(grader, (GRADER, FOUNDATION), [ENTRY, *starts_of_tests(grader), *by_path])
    modules = {path for path in modules if not path.startswith(CATALOGUE)}
    folders = {path.rpartition("/")[0] for path in modules}
    beside = {path for path in grader if not path.endswith(".py") and path.rpartition("/")[0] in folders}
    return (modules | beside | {ASSIGNMENT}) - {EQUIVALENTS, HANDOUT}


def _requirements(index: str) -> bytes:
    lines = [f"--extra-index-url {index}"] if index else []
    return "".join(f"{line}\n" for line in [*lines, *pin(PACKAGES)]).encode()
