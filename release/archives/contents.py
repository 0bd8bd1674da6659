"""What goes into each archive: the students', Gradescope's and the instructor's.

Students unpack one folder, `assignment/`:

    README.md · requirements.txt · pytest.ini · grade.py · student/ · given/ · data/corpus/ · autograder/ · foundation/

Gradescope gets the two programs that it runs, `setup.sh` and `run_autograder`, as they lie in `gradescope_container/`,
the grader, the skeleton, the references and the secret. The instructor keeps the solutions, the guide and the pages of
the proof, the references and the secret.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from foundation.assignment_file import Assignment
from foundation.places import REFERENCES
from foundation.term_secret import SECRET, term_secret

from ..instructor_texts import named_pictures
from ..problems import Problem, ReleaseError
from ..skeleton.build import ASSIGNMENT_FILE, read_folder
from .handed_out import (
    CORPUS,
    GRADER,
    PYTEST_INI,
    REQUIRED_CORPUS,
    SCORER,
    TESTS,
    are_needed,
    needed_modules,
    read_corpus,
    read_given,
    read_packages,
    read_tests,
    starts_of_tests,
)
from .packing import HANDED_OUT, make_tar_xz, remember
from .requirements import REQUIREMENTS, Requirements, pin, requirements_file

HANDOUT = "README.md"

ARCHIVE_FOLDER = "assignment"
"""The one folder at the top of the students' archive, so that unpacking it spills nothing."""

PROGRAMS = ("run_autograder", "setup.sh")
PROGRAMS_FOLDER = Path(__file__).with_name("gradescope_container")

GRADER_ARCHIVE = "grader.tar.xz"
"""The grader and the skeleton; `setup.sh` unpacks it beside itself."""

ENTRY = f"{GRADER}/reports/gradescope.py"
LOADED_BY_PATH = (f"{GRADER}/assignment/training_check.py", f"{GRADER}/sandbox/worker/")
QUOTING = tuple(f"{GRADER}/assignment/{name}" for name in ("misconceptions/", "proof/equivalents.toml", "handout.md"))
"""They quote the reference, so they do not travel: failures are not named there."""

PACKAGES = (
    *("torch", "numpy", "pytest", "sacrebleu", "safetensors", "tqdm", "pydantic"),
    *("matplotlib", "ipython", "ipywidgets"),
)
"""What grading imports, and what submissions may; students' notebooks need more."""

PRIVATE = "data/private"
KEPT = (PRIVATE, "docs", "given")
"""The instructor's guide with the pages of the proof, and training as the solutions need it, are in the last two."""

MAKE_CORPUS = "make the corpus: python -m data generate"


def collect_kit(
    root: Path, assignment: Assignment, skeleton: Mapping[str, bytes], handout: bytes, requirements: Requirements
) -> dict[str, bytes]:
    """All files of the students' archive by path.

    Args:
        root: of the project.
        assignment: whose students get it.
        skeleton: the files of their package by path.
        handout: the text that students read first.
        requirements: what they install.

    Raises:
        ReleaseError: where a file that belongs in it is missing.
    """
    handed_out = [handout, *skeleton.values(), *read_given(root, assignment).values()]
    scorer = [SCORER] if are_needed(SCORER, assignment, handed_out) else []
    corpus = REQUIRED_CORPUS if are_needed(CORPUS, assignment, handed_out) else ()
    expected = {f"{CORPUS}/{name}": MAKE_CORPUS for name in corpus}
    expected |= {SCORER: "students need it to score their translations"} if scorer else {}
    expected |= {PYTEST_INI: "students need it to run the tests"}
    missing = missing_files(root, expected)
    if not any((root / TESTS).glob("*.py")):
        missing.append(Problem(TESTS, 0, "is empty", "students need the tests"))
    if missing:
        raise ReleaseError(missing)
    kit = read_tests(root, assignment, scorer)
    kit[PurePosixPath(PYTEST_INI).name] = kit.pop(PYTEST_INI)  # so that `python -m pytest` there runs the tests
    kit |= {f"{assignment.package}/{path}": content for path, content in skeleton.items()}
    kit |= read_corpus(root, assignment, handed_out)
    kit |= named_pictures(root, handout.decode("utf-8"), HANDOUT)
    kit |= {HANDOUT: handout, REQUIREMENTS: requirements.as_file()}
    kit[HANDED_OUT] = remember(kit, assignment.package)
    return {f"{ARCHIVE_FOLDER}/{path}": kit[path] for path in sorted(kit)}


def collect_gradescope(
    root: Path, assignment: Assignment, skeleton: Mapping[str, bytes], index: str
) -> dict[str, bytes]:
    """All files of the archive for Gradescope by path.

    Args:
        root: of the project.
        assignment: that is graded; without BLEU, there are no references.
        skeleton: the files of the students' package by path: what a submission lacks is taken from there.
        index: of CPU-only builds of PyTorch, for pip; empty: whatever pip's own settings there lead to.

    Raises:
        ReleaseError: where a file that belongs in it is missing.
        SecretError: where the term's secret cannot be used.
    """
    expected = {ENTRY: "Gradescope's run_autograder calls it"}
    expected |= {REFERENCES.as_posix(): MAKE_CORPUS} if assignment.judges_translations else {}
    if missing := missing_files(root, expected):
        raise ReleaseError(missing)
    grader = read_packages(root)
    by_path = [path for path in grader if path.startswith(LOADED_BY_PATH) and path.endswith(".py")]
    modules = needed_modules(grader, [ENTRY, *starts_of_tests(grader), *by_path])
    modules = {path for path in modules if not path.startswith(QUOTING)}
    folders = {path.rpartition("/")[0] for path in modules}
    beside = {path for path in grader if not path.endswith(".py") and path.rpartition("/")[0] in folders}
    inner = {path: grader[path] for path in modules | beside | {ASSIGNMENT_FILE} if not path.startswith(QUOTING)}
    inner |= {f"{assignment.package}/{path}": content for path, content in skeleton.items()}
    files = {GRADER_ARCHIVE: make_tar_xz(inner), SECRET.as_posix(): term_secret(root)}
    files |= {name: (PROGRAMS_FOLDER / name).read_bytes() for name in PROGRAMS}
    if assignment.judges_translations:
        files[REFERENCES.as_posix()] = (root / REFERENCES).read_bytes()
    files[REQUIREMENTS] = requirements_file(pin(PACKAGES), index)
    return files


def missing_files(root: Path, expected: Mapping[str, str]) -> list[Problem]:
    """One problem for each path where no file is; the values say what would be right."""
    absent = [path for path in expected if not (root / path).is_file()]
    return [Problem(path, 0, "does not exist", expected[path]) for path in absent]


def collect_instructor(root: Path, reference: Path, handout: bytes) -> dict[str, bytes]:
    """All files of what the instructor keeps by path.

    Args:
        root: of the project.
        reference: the marked solution.
        handout: what students read first.

    Raises:
        SecretError: where the term's secret cannot be used.
    """
    folders = {"reference": reference, **{folder: root / folder for folder in KEPT}}
    files = {
        f"{place}/{path}": content for place, folder in folders.items() for path, content in read_folder(folder).items()
    }
    files |= {SECRET.as_posix(): term_secret(root), "HANDOUT.md": handout}
    return {f"instructor/{path}": files[path] for path in sorted(files)}
