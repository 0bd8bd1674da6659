"""Where the parts of the kit lie, in one place.

The same layout holds in a checkout, in what Gradescope unpacks, and in the students' archive (which has only some).
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

ASSIGNMENT = ROOT / "autograder" / "assignment"
ASSIGNMENT_FILE = ASSIGNMENT / "assignment.toml"
COMPONENT_TESTS = ASSIGNMENT / "tests"
MISCONCEPTIONS = ASSIGNMENT / "misconceptions"
VARIANTS = ASSIGNMENT / "variants"
EQUIVALENTS = ASSIGNMENT / "equivalents.toml"

REFERENCE = ROOT / "reference"
SKELETON = ROOT / "student"
TEST_REFERENCES = ROOT / "data" / "private" / "fren.test.bpe"
"""The references of the test split, which students do not get."""
