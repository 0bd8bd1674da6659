"""The paths of the kit's parts, the same in a checkout, on Gradescope and beside notebooks.

Students who work in files install what the component tests import; the tests are in the folder that they work in.
"""

from pathlib import Path

_PACKAGES = Path(__file__).resolve().parents[1]

ASSIGNMENT = _PACKAGES / "assignment"
ASSIGNMENT_FILE = ASSIGNMENT / "assignment.toml"

HANDED_OUT = ".handed_out.zip"
"""In every students' folder: its files as they were handed out, from which a later update learns what is new."""
COMPONENT_TESTS = "component_tests"
"""The folder of tests in a students' folder."""


def _students_folder() -> Path:
    """The students' folder at or above the working directory, or else that directory."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / HANDED_OUT).is_file()), here)


ROOT = _PACKAGES if (ASSIGNMENT / "tests").is_dir() else _students_folder()

REFERENCE = ROOT / "reference"
SKELETON = ROOT / "student"

ANSWERS = "answers.md"
"""The file that students write for people to read, beside their modules."""

REFERENCES = Path("data/private/fren.test.bpe")
"""Reference translations of the test split, which students do not get, from the root of wherever the kit lies."""
TEST_REFERENCES = ROOT / REFERENCES
