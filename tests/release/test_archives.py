"""The archives: what is in them, for whom, and when; and what students can do and read with theirs, unpacked.

In the first phase, some tests are held back.
"""

import ast
import html
import io
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest

from benchmarks import accessibility
from foundation.assignment_file import read_assignment
from foundation.assignment_tables import LatePolicy
from foundation.places import REFERENCE, REFERENCES, ROOT, SECRET, SKELETON
from foundation.whole_files import make_zip
from release import gates
from release.build import Project, Release, make_package, make_release
from release.contents import ARCHIVE_FOLDER, PROGRAMS, collect_kit, read_given
from release.gates import archive_works, run_python, unpack
from release.handout import NAMES, files_for_assistants, make_guide, words_of
from release.packing import members_of
from release.skeleton import ReleaseError

from .conftest import ENGINE, ROOM, edit


def test_students_get_what_they_need_and_no_more(example_release) -> None:
    archive = example_release.archives["student.zip"]
    files = {path.removeprefix(f"{ARCHIVE_FOLDER}/") for path in archive if not path.endswith(".whl")}
    [wheel] = (path for path in archive if path.endswith(".whl"))
    inside = {path.partition("!")[2] for path, _ in members_of(wheel, archive[wheel])}
    assert files == {
        *(".gitignore", ".handed_out.zip", "README.md", "requirements.txt", "pytest.ini", "conftest.py", *NAMES),
        *(f"student/{name}.py" for name in ("__init__", "affine", "loss", "regressor")),
        "given/__init__.py",
        *(f"data/corpus/fren.{name}.bpe" for name in ("train", "dev", "test.src")),
        *(f"component_tests/test_{name}.py" for name in ("1_1_affine", "1_2_loss", "2_1_regressor")),
    }
    assert {f"{ROOM}/{path}" for path in ("assignment.toml", "hints.json", "stand_ins/__init__.py")} < inside
    assert "autograder/testing/case.py" in inside
    assert f"instructor/{SECRET}" in example_release.archives["instructor.zip"]
    staff = ("release", "data", *(f"autograder/{name}" for name in ("classroom", "grading", "reports", "commands")))
    assert not any(path.startswith((*staff, f"{ROOM}/misconceptions", f"{ROOM}/proof")) for path in inside)
    assert sorted(example_release.folder) == ["README.md", "__init__.py", "affine.py", "loss.py", "regressor.py"]


def test_pip_installs_the_wheel(example_release, tmp_path: Path) -> None:
    [(path, wheel)] = (item for item in example_release.archives["student.zip"].items() if item[0].endswith(".whl"))
    file = tmp_path / path.rpartition("/")[2]
    file.write_bytes(wheel)
    options = ["--quiet", "--no-index", "--no-deps", "--no-compile", "--target", tmp_path / "site", file]
    subprocess.run([sys.executable, "-m", "pip", "install", *options], check=True)
    assert (tmp_path / "site" / "autograder" / "testing" / "case.py").is_file()


def test_gradescope_gets_grader_skeleton_references_and_secret(project: Project) -> None:
    url = "https://example.org/cpu"
    packed = make_release(replace(project, index=url)).outputs["dist/gradescope.zip"]
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        first, second, *packages = archive.read("requirements.txt").decode().splitlines()
        modes = {member.filename: member.external_attr >> 16 & 0o777 for member in archive.infolist()}
    assert {*PROGRAMS, "requirements.lock", str(REFERENCES), str(SECRET)} < modes.keys()
    assert {"autograder/reports/gradescope.py", "autograder/testing/case.py"} < modes.keys()
    assert {"student/loss.py", *(f"{ROOM}/{path}" for path in ("assignment.toml", "tests/pytest.ini"))} < modes.keys()
    assert not any("reference" in name or name.startswith(("release", "tests/")) for name in modes)
    assert {name for name, mode in modes.items() if mode & 0o111} == set(PROGRAMS)
    assert first == f"--extra-index-url {url}" and second == "--constraint requirements.lock" and "torch" in packages


@pytest.mark.parametrize("name", ["given/nothing.py", "reference/loss.py"])
def test_what_students_do_not_get_has_to_exist(project: Project, example_release, name: str) -> None:
    with pytest.raises(ReleaseError, match=f"instructor_only names {name}: expected a file or folder in given/"):
        read_given(project.root, replace(example_release.assignment, instructor_only=(name,)))


FOR_OWN_WORK = ["-k", "test_1_1 or test_e_4 or test_e_6"]
HELD = {"test_1_2_attention.py", "test_1_4_layer_norm.py"}


@pytest.fixture(scope="module")
def phases():
    """The files of the course's archive for students, in each phase."""
    whole, phases = make_package(Project(ROOT)).skeleton, (1, 2, None)
    parts = {phase: replace(whole, assignment=replace(whole.assignment, phase=phase)) for phase in phases}
    return {phase: collect_kit(Project(ROOT), parts[phase]) for phase in phases}


@pytest.mark.slow
def test_the_first_phase_holds_tests_back_and_says_so_and_the_second_has_all(phases, tmp_path):
    first, second = (
        {path.rpartition("/")[2] for path, _ in members_of("student.zip", make_zip(phases[phase]))} for phase in (1, 2)
    )
    assert HELD.isdisjoint(first) and "test_e_4_own_tests.py" in first
    assert second >= HELD and phases[2] == phases[None]
    folder = unpack(make_zip(phases[1]), tmp_path)
    done = run_python(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "task_1_2"], folder)
    assert "1.2 Scaled dot-product attention: its tests are handed out later" in done.stdout
    first_phase = words_of(replace(read_assignment(), phase=1), [])["held_back"]
    assert "The tests of 1.2 and 1.4 are handed out later." in first_phase


@pytest.mark.slow
def test_what_is_handed_out_in_the_first_phase_works(tmp_path, monkeypatch):
    """The hunts in 1.2 and 1.4, which need their tests, come with these. All else is as in the archive of all tests."""
    monkeypatch.setattr(gates, "run_python", lambda words, folder: run_python([*words, *FOR_OWN_WORK], folder))
    for name in (*ENGINE, "assignment", "given", "reference", "data/corpus", "notebooks/prose", "docs/pictures"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "requirements.lock", "grade.py"):
        shutil.copy(ROOT / name, tmp_path)
    edit(tmp_path / ROOM / "assignment.toml", "[release]", "[release]\nphase = 1")
    edit(tmp_path / ROOM / "assignment.toml", "own_tests = 0", "own_tests = 6")
    project = Project(tmp_path)
    skeleton, _, handout = make_package(project)
    release = Release(skeleton, {}, {"dist/student.zip": make_zip(collect_kit(project, skeleton, handout))})
    assert archive_works(project, release) == []


STAFF_ONLY = ("pydantic", "sqlalchemy", "nbgrader")
POSIX_ONLY = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "termios")


@pytest.mark.slow
def test_students_need_no_module_that_they_may_lack(phases):
    """The tests and the notebooks' checks import the grader in part, and that part gets by without these."""
    members = members_of("student.zip", make_zip(phases[None]))
    for path, content in ((path, content) for path, content in members if path.endswith(".py")):
        for node in ast.walk(ast.parse(content)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.partition(".")[0] for name in names} & {*STAFF_ONLY, *POSIX_ONLY}, path


TRAIN_AND_TRANSLATE = """import sys
from student.__main__ import main
sys.exit(any(main(words.split()) for words in sys.argv[1:]))
"""


@pytest.mark.slow
def test_students_train_and_translate_with_what_they_unpack(phases, tmp_path: Path) -> None:
    folder = unpack(make_zip(phases[None]), tmp_path)
    shutil.copytree(REFERENCE, folder / "student", dirs_exist_ok=True)
    sources = folder / "data" / "corpus" / "fren.test.src.bpe"
    sources.write_text("".join(sources.read_text("utf-8").splitlines(keepends=True)[:9]), "utf-8")
    train = "train --preset tiny --max-steps 2 --samples 0 --max-length 3 --output runs/short"
    translate = "translate --checkpoint runs/short/best.pt --output translations.txt"
    done = run_python(["-c", TRAIN_AND_TRANSLATE, train, translate], folder)
    assert done.returncode == 0, done.stderr
    assert len((folder / "translations.txt").read_text("utf-8").splitlines()) == 9
    assert run_python(["grade.py", "--help"], folder).returncode == 0


ASKED = {
    "none": ("without a coding assistant", "do not write"),
    "tutor": ("not for answers", "ask back first"),
    "free": ("every line", "defend"),
}


@pytest.fixture(scope="module")
def page() -> str:
    return make_guide(ROOT, *make_package(Project(ROOT))[:2])["guide.html"].decode()


def test_each_task_has_its_idea_its_place_and_its_test_and_nothing_is_said_of_cells(page):
    for task in read_assignment().tasks:
        if task.components:
            section = page.partition(f"<h2>{task.number} ")[2].partition("<h2>")[0]
            assert "<strong>Idea" in section and f"python -m pytest -m {task.marker}" in section
            assert f"<code>{SKELETON.name}/" in section
    assert not re.search(r"\b(check|display|draw|refresh)\(|IPython|support/|(this|next|the next) cell\b", page)
    assert "this notebook" not in page and "In files.</strong>" in page and "Write it in ," not in page
    assert {*re.findall(r'href="#([^"]*)"', page)} <= {*re.findall(r'id="([^"]*)"', page)}, "links lead somewhere"


def test_its_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    namespace: dict[str, object] = {}
    for example in re.findall(r"<pre tabindex=\"0\"><code>(.*?)</code></pre>", page, re.DOTALL):
        if not example.startswith("python -m"):
            exec(re.sub(rf"\b{SKELETON.name}\.", "reference.", html.unescape(example)), namespace)
    assert (tmp_path / "matrices.png").is_file() and {"batch", "tiny"} <= namespace.keys()


def test_the_handout_has_a_row_for_every_task_and_rounds_nothing(project):
    handout = make_package(project).handout["README.md"].decode()
    assert "| 1.1 | Affine map | 4 |  |  | `student/affine.py` |" in handout and "{" not in handout
    assert "0.30" in handout and "| 2.1 | Regressor | 4 (bonus) |" in handout
    for old, new in (("= 0.30", "= 0.255"), ('"Affine map"', '"Affine | map"'), ("points = 2", "points = 0")):
        edit(project.root / ROOM / "assignment.toml", old, new)
    handout = make_package(project).handout["README.md"].decode()
    assert "for at least 0.255 (" in handout and "| 1.1 | Affine \\| map | 4 |" in handout
    assert "| 1.2 | Squared error | none |" in handout


def test_it_says_what_handing_in_late_costs():
    usual = read_assignment()
    late = LatePolicy(datetime(2026, 12, 18, 23, 59, tzinfo=UTC), 1, 10, 50)
    assert words_of(usual, [])["due"] == ""
    due = words_of(replace(usual, late=late), [])["due"]
    assert "by **18 December 2026, 23:59 UTC**. Each day late that has begun costs 10% of the points" in due
    assert "earn, at most 50%. Up to 1 h late costs nothing;" in due
    assert "Hand in by **Friday**. Each day late" in words_of(replace(usual, late=late, due="Friday"), [])["due"]


@pytest.mark.parametrize("policy", ["none", "tutor", "free"])
def test_students_and_assistants_are_told_the_same(policy):
    assignment = replace(read_assignment(), assistants=policy, contact="the forum")
    files = files_for_assistants(assignment)
    assert set(files) == set(NAMES) and len(set(files.values())) == 1
    for_students, for_assistants = ASKED[policy]
    assert for_students in " ".join(words_of(assignment, [])["assistants"].split())
    assert for_assistants in " ".join(files["AGENTS.md"].decode().split())


@pytest.mark.slow
def test_everybody_can_read_the_guide(page, tmp_path, monkeypatch, sampled):
    """In one of the views, another one every day."""
    monkeypatch.setattr(accessibility, "product", lambda *parts: sampled(product(*parts), accessibility.VIEWS))
    (tmp_path / "guide.html").write_text(page)
    assert [*accessibility.audit([tmp_path / "guide.html"])] == []
