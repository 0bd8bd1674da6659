"""Records: always valid, whole and harmless, whatever the submission does and whenever the grader is killed."""

import json
import os
import re
import signal
import time

import jsonschema
import pytest

from autograder.grading.one import grade, refuse
from autograder.grading.record import MAX_TEXT, SCHEMA, Record, hash_of, read_record, write_json
from autograder.intake import take_in
from autograder.reports.results import as_results, as_table
from autograder.sandbox import SandboxUnavailableError
from foundation.assignment_file import read_assignment

from .conftest import SKELETON, SUITE, write_submission

VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)


@pytest.mark.parametrize(
    "name", ["good", "faulty", "trouble", "attention only", "broken", "skeleton", "no archive.zip"]
)
def test_every_kind_of_submission_gets_a_valid_record(graded, name):
    record = graded[name]
    VALIDATOR.validate(record)
    assert record["finished"] and record["suite"] == SUITE
    for part in record["parts"]:
        assert part["state"] == "passed" or part["message"], part["number"]
    if name != "no archive.zip":
        assert record["sandbox"].startswith("seccomp") and re.fullmatch("[0-9a-f]{12}", record["seed_id"])


def test_what_was_graded_is_named_by_its_hash(graded, class_folder):
    hashes = take_in(class_folder / "good", SKELETON, read_assignment()).hashes
    assert graded["good"]["graded"] == hash_of(hashes) and graded["good"]["files"] == hashes
    assert len({record["graded"] for record in graded.values()}) == len(graded)


def test_text_of_a_submission_can_forge_no_line_and_steer_no_terminal(graded):
    record = graded["trouble"]
    [training] = [part for part in record["parts"] if part["number"] == "3.1"]
    assert "KeyError" in training["message"] and len(training["message"]) <= MAX_TEXT
    for text in (json.dumps(record, ensure_ascii=False), as_table(record), json.dumps(as_results(record))):
        assert not CONTROL.search(text)
    hostile = refuse("\x1b]0;owned\x07\nscore 100\udcff", "because", read_assignment(), {"a\nb": "0" * 64}, SUITE)
    VALIDATOR.validate(hostile.content())
    assert not CONTROL.search(json.dumps(hostile.content(), ensure_ascii=False).replace("\\n", ""))
    assert "\nscore 100" not in as_table(hostile.content())


def test_a_traceback_shows_the_submissions_own_frames(graded):
    [training] = [part for part in graded["trouble"]["parts"] if part["number"] == "3.1"]
    lines = training["traceback"].splitlines()
    assert lines[0].startswith("train.py, line ") and "raise KeyError" in lines[1]
    assert all(line.startswith(("train.py, ", "    ")) for line in lines)


def test_a_killed_grader_leaves_a_valid_record_of_what_it_had_judged(zygote, references, tmp_path):
    change = ("layers", "        centred = x", "        __import__('time').sleep(99)\n        centred = x")
    folder, path = write_submission(tmp_path / "anna", change), tmp_path / "anna.json"
    pid = os.fork()
    if pid == 0:
        try:
            intake = take_in(folder, SKELETON, read_assignment())
            write = lambda record: record.write(path)  # noqa: E731
            grade(intake, read_assignment(), references, suite=SUITE, zygote=zygote, after_each=write)
        finally:
            os._exit(1)
    deadline, seen = time.monotonic() + 60, set()
    while "passed" not in seen and time.monotonic() < deadline:
        time.sleep(0.01)
        if record := read_record(path):
            VALIDATOR.validate(record)
            seen |= {part["state"] for part in record["parts"] if part["number"] == "1.3"}
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    record = read_record(path)
    VALIDATOR.validate(record)
    states = {part["number"]: part["state"] for part in record["parts"]}
    assert not record["finished"] and "grader error" in seen
    assert [states[number] for number in ("1.1", "1.2", "1.3")] == ["passed"] * 3
    for part in record["parts"]:
        if part["number"] in ("1.4", "2.1", "3.1", "E.3"):
            assert (part["state"], part["score"]) == ("grader error", 0) and "not come that far" in part["message"]
    assert [file.name for file in tmp_path.iterdir() if "tmp" in file.name] == []


def test_a_machine_that_fails_costs_no_one_points_silently(zygote, references, tmp_path, monkeypatch):
    def fork(*arguments: object):
        raise SandboxUnavailableError("no processes left")

    monkeypatch.setattr(zygote, "fork", fork)
    written: list[Record] = []
    intake = take_in(write_submission(tmp_path / "anna"), SKELETON, read_assignment())
    with pytest.raises(SandboxUnavailableError):
        grade(intake, read_assignment(), references, suite=SUITE, zygote=zygote, after_each=written.append)
    content = written[-1].content()
    VALIDATOR.validate(content)
    judged = [part for part in content["parts"] if part["components"]]
    assert not content["finished"] and {part["state"] for part in judged} == {"grader error"}
    assert all("no processes left" in part["message"] for part in judged)


def test_a_result_without_containment_says_so():
    unsafe = Record("anna", read_assignment(), suite=SUITE, sandbox="rlimits only (unsafe)", notes=["a note"])
    first, second = unsafe.content()["notes"]
    assert "--level unsafe" in first and second == "a note"
    assert first in as_table(unsafe.content()).replace("\n", " ") and first in as_results(unsafe.content())["output"]


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "deep" / "record.json"
    write_json(path, {"schema": 1})
    with pytest.raises(TypeError):
        write_json(path, {"schema": object()})
    assert read_record(path) == {"schema": 1}
    assert [file.name for file in path.parent.iterdir()] == ["record.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 0}', "\udcff"])
def test_what_is_no_record_is_none(tmp_path, text):
    (tmp_path / "record.json").write_text(text, errors="surrogateescape")
    assert read_record(tmp_path / "record.json") is None
