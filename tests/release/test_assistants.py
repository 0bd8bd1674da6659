"""What students and their assistants are told about assistants."""

from dataclasses import replace

import pytest

from foundation.assignment_file import ASSISTANTS, read_assignment
from release.handout import NAMES, files_for_assistants, words_of

SAID = {
    "none": ("without a coding assistant", "do not write"),
    "tutor": ("not for answers", "ask back first"),
    "free": ("every line", "defend"),
}


@pytest.mark.parametrize("policy", ASSISTANTS)
def test_students_and_assistants_are_told_the_same(policy):
    assignment = replace(read_assignment(), assistants=policy, contact="the forum")
    files = files_for_assistants(assignment)
    assert set(files) == set(NAMES) and len(set(files.values())) == 1
    for_students, for_assistants = SAID[policy]
    assert for_students in " ".join(words_of(assignment, [])["assistants"].split())
    assert for_assistants in " ".join(files["AGENTS.md"].decode().split())
