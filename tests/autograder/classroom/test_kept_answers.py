"""What was found out about a class is kept at once; what no longer holds is found out again."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from autograder.classroom.entries import Entry
from autograder.classroom.records import KeptAnswers
from autograder.grading.seeds import Seeds
from foundation.child_processes import Ended

SEEDS = Seeds(b"a secret")
ENTRIES = [Entry(name, f"{name}.zip", Path(name), Path(name)) for name in ("anna", "bob", "carl")]
CONTENTS = {entry: f"files of {entry.key}" for entry in ENTRIES}


@dataclass(frozen=True)
class Found:
    text: str
    numbers: tuple[float, ...] = (0.1, 2.0)


def kept_in(folder, made_with="all the rest", seeds=SEEDS) -> KeptAnswers[Found]:
    return KeptAnswers(folder, Found, made_with, seeds)


def work(entry):
    return CONTENTS[entry], Found(f"about {entry.key}")


def find_out(folder, entries=ENTRIES, work=work):
    return {entry.key: answer for entry, answer in kept_in(folder).find_out(entries, work, 60, 1)}


def names_in(folder, contents=CONTENTS, **options):
    return [*kept_in(folder, **options).up_to_date(ENTRIES, contents)]


def test_answers_come_back_as_they_were(tmp_path, capsys):
    found = find_out(tmp_path)
    assert found == {name: Found(f"about {name}") for name in ("anna", "bob", "carl")}
    assert kept_in(tmp_path).up_to_date(ENTRIES, CONTENTS) == found
    assert capsys.readouterr().err == "note: kept from an earlier run: 3 of 3 submissions\n"


def test_what_no_longer_holds_does_not_come_back(tmp_path, capsys):
    find_out(tmp_path)
    capsys.readouterr()
    assert names_in(tmp_path, contents={**CONTENTS, ENTRIES[1]: "other files"}) == ["anna", "carl"]
    assert names_in(tmp_path, contents={ENTRIES[0]: CONTENTS[ENTRIES[0]]}) == ["anna"], "the others cannot be read"
    assert names_in(tmp_path, made_with="a newer grader") == []
    assert "sealed" not in capsys.readouterr().err


@pytest.mark.parametrize("change", ["answer", "content", "made_with", "key", "seal"])
def test_what_others_wrote_does_not_come_back(tmp_path, capsys, change):
    find_out(tmp_path)
    path = tmp_path / "bob.json"
    content = json.loads(path.read_text())
    content[change] = asdict(Found("forged")) if change == "answer" else "forged \u00e9"
    path.write_text(json.dumps(content))
    assert names_in(tmp_path) == ["anna", "carl"]
    printed = capsys.readouterr().err
    assert "note: this term's grader has not sealed what was kept of bob.zip: done again\n" in printed


def test_one_students_answer_is_no_others(tmp_path):
    find_out(tmp_path)
    (tmp_path / "bob.json").write_bytes((tmp_path / "anna.json").read_bytes())
    assert names_in(tmp_path, contents=dict.fromkeys(ENTRIES, CONTENTS[ENTRIES[0]])) == ["anna"]
    assert names_in(tmp_path, seeds=Seeds(b"another term's")) == []


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"key": "bob"}'])
def test_what_is_no_answer_is_no_obstacle(tmp_path, text):
    find_out(tmp_path)
    (tmp_path / "bob.json").write_bytes(text)
    assert names_in(tmp_path) == ["anna", "carl"]
    assert find_out(tmp_path)["bob"] == Found("about bob") and len(names_in(tmp_path)) == 3


def test_a_child_that_dies_stops_no_other_and_keeps_nothing(tmp_path):
    def dying(entry):
        if entry.key == "bob":
            os._exit(9)
        return work(entry)

    found = find_out(tmp_path, work=dying)
    assert isinstance(found["bob"], Ended) and found["bob"].reason == "ended with status 9"
    assert names_in(tmp_path) == ["anna", "carl"]
