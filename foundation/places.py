"""The paths of the kit's parts.

The layout is the same in a checkout, on Gradescope and in the students' archive, which has only some of the parts.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

ASSIGNMENT = ROOT / "autograder" / "assignment"
ASSIGNMENT_FILE = ASSIGNMENT / "assignment.toml"

REFERENCE = ROOT / "reference"
SKELETON = ROOT / "student"

ANSWERS = "answers.md"
"""What students write for people to read, beside their modules."""

REFERENCES = Path("data/private/fren.test.bpe")
"""Reference translations of the test split, which students do not get, from the root of wherever the kit lies."""
TEST_REFERENCES = ROOT / REFERENCES
