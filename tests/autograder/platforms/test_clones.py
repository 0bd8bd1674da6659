"""Clones of repositories: when they were handed in, what they had before a deadline, and that nothing in them runs."""

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from autograder.__main__ import main
from autograder.intake.submission import take_in
from autograder.platforms.download import read_download
from foundation.command_line import UserError
from foundation.places import ROOT, SKELETON
from foundation.whole_files import write_whole

from ..conftest import ASSIGNMENT, changed_assignment, words_of

DEADLINE = datetime(2026, 12, 18, 23, tzinfo=UTC)
EARLY, LATE = "2026-12-18T22:59:59Z", "2026-12-20T12:00:00Z"


@pytest.fixture
def git(tmp_path):
    """Runs git in a clone; what it prints."""

    def run(clone, *words, date=EARLY, typed=""):
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
        environment |= {"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z"}
        command = ["git", "-c", "user.name=A", "-c", "user.email=a@x", *words]
        options = {"check": True, "capture_output": True, "text": True}
        return subprocess.run(command, cwd=clone, env=environment, input=typed, **options).stdout.strip()

    return run


@pytest.fixture
def commit(tmp_path, git):
    """Commits a text as layers.py in a clone, which is made where it is missing."""

    def add(name, text, date=EARLY):
        clone = tmp_path / "clones" / name
        if not clone.exists():
            clone.mkdir(parents=True)
            git(clone, "init", "-q", "-b", "main")
        (clone / "layers.py").write_text(text)
        git(clone, "add", "-A")
        git(clone, "commit", "-q", "-m", "x", date=date)
        return clone

    return add


def layers(submission):
    return take_in(submission.source, SKELETON, ASSIGNMENT).sources["layers"][1]


def read(folder, deadline=None):
    return read_download(folder, ASSIGNMENT, deadline=deadline)


@pytest.fixture
def clones(commit):
    """Anna was in time, Bob once, Carl never; Dora's repository is empty."""
    folder = commit("hw-anna", "# anna\n").parent
    commit("hw-bob", "# in time\n")
    commit("hw-bob", "# late\n", LATE)
    commit("hw-carl", "# carl\n", LATE)
    (folder / "hw-dora" / ".git").mkdir(parents=True)
    return folder


def times_in(clones):
    return {each.entry: each.submitted and each.submitted.strftime("%Y-%m-%dT%XZ") for each in read(clones).submissions}


def test_the_last_commit_before_a_deadline_counts(clones):
    assert times_in(clones) == {"hw-anna": EARLY, "hw-bob": LATE, "hw-carl": LATE, "hw-dora": None}
    _, bob, _, dora = read(clones).submissions
    assert layers(bob) == "# late\n" and "commits cannot be read" in dora.unread_time
    (clones / "hw-anna" / "layers.py").write_text("# not committed\n")
    before = read(clones, DEADLINE)
    assert [each.entry for each in before.submissions] == ["hw-anna", "hw-bob"]
    assert [layers(each) for each in before.submissions[:2]] == ["# anna\n", "# in time\n"]
    again, late, unread = before.strays
    assert (again.entry, again.reason) == ("hw-bob", "committed again after the deadline, last at 2026-12-20 12:00 UTC")
    assert (late.entry, late.reason) == ("hw-carl", "no commit before the deadline") and not late.needs_decision
    assert unread.needs_decision and "so it is not known what was there at the deadline" in unread.reason


def test_where_no_clone_counts_the_reason_is_named(clones):
    for name in ("hw-anna", "hw-bob"):
        shutil.rmtree(clones / name)
    with pytest.raises(UserError, match="no submission in it .*; hw-carl: no commit before the deadline"):
        read(clones, DEADLINE)


def test_packed_branches_detached_heads_and_shallow_clones_are_read(clones, git, tmp_path):
    git(clones / "hw-anna", "pack-refs", "--all")
    git(clones / "hw-bob", "checkout", "-q", "HEAD~1")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{clones / 'hw-carl'}", str(clones / "hw-eve"))
    late = dict.fromkeys(("hw-carl", "hw-eve"), LATE)
    assert times_in(clones) == {"hw-anna": EARLY, "hw-bob": EARLY, "hw-dora": None, **late}


def test_nothing_of_a_clone_runs(clones, commit, git, tmp_path):
    """Not its hooks, filters, monitors, pagers, remotes or replaced objects, and no other store of objects is read."""
    witness, script = tmp_path / "witness", tmp_path / "run"
    script.write_text(f"#!/bin/sh\ntouch {witness}\ncat\n")
    script.chmod(0o755)
    bob = clones / "hw-bob"
    (bob / ".gitattributes").write_text("* filter=evil export-ignore\n")
    git(bob, "add", "-A")
    git(bob, "commit", "-q", "-m", "attributes")
    commit("hw-bob", "# later still\n", LATE)
    keys = ("filter.evil.smudge", "filter.evil.clean", "core.fsmonitor", "core.pager", "core.sshCommand")
    for key in (*keys, "uploadpack.packObjectsHook", "core.gitProxy", "gpg.program"):
        git(bob, "config", key, str(script))
    git(bob, "config", "remote.origin.promisor", "true")
    git(bob, "config", "remote.origin.url", f"ext::{script}")
    git(bob, "config", "core.hooksPath", str(tmp_path))
    witness.unlink(missing_ok=True)
    assert layers(read(clones, DEADLINE).submissions[1]) == "# late\n", "the last one by its date"
    assert not witness.exists()
    (bob / ".git" / "objects" / "info" / "alternates").write_text(f"{clones / 'hw-anna' / '.git' / 'objects'}\n")
    (clones / "hw-carl" / ".git").rename(tmp_path / "elsewhere")
    (clones / "hw-carl" / ".git").symlink_to(tmp_path / "elsewhere")
    (clones / "hw-dora" / ".git" / "commondir").write_text(f"{clones / 'hw-anna' / '.git'}\n")
    reasons = {each.entry: each.unread_time for each in read(clones).submissions}
    assert "borrows from another" in reasons["hw-bob"] and ".git is not a folder" in reasons["hw-carl"]
    assert "borrows from another" in reasons["hw-dora"]


@pytest.mark.parametrize("place", ["refs/heads/main", "objects/ab", "info/exclude", "refs/heads/deep/er/x"])
def test_no_link_leads_from_one_clone_to_another(clones, place):
    link = clones / "hw-bob" / ".git" / place
    link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(clones / "hw-anna" / ".git" / place)
    _, bob, *_ = read(clones).submissions
    assert bob.unread_time == "its commits cannot be read: a link or another special file lies in .git"
    assert "hw-bob" not in [each.entry for each in read(clones, DEADLINE).submissions]


def test_what_one_clone_lists_stops_no_other(clones, git, monkeypatch):
    """Thousands of long names, as many as no command takes; and billions of files in a few trees."""
    blob = git(clones / "hw-anna", "hash-object", "-w", "layers.py")
    names = "".join(f"100644 {blob}\t{number}{'x' * 240}.py\n" for number in range(9_000))
    git(clones / "hw-anna", "update-index", "--index-info", typed=names)
    git(clones / "hw-anna", "commit", "-q", "-m", "many")
    assert layers(read(clones, DEADLINE).submissions[0]) == "# anna\n"
    monkeypatch.setattr("autograder.platforms.git.MOST_BYTES", 10_000_000)
    bob = clones / "hw-bob"
    tree = git(bob, "write-tree")
    for _ in range(9):
        tree = git(bob, "mktree", typed="".join(f"040000 tree {tree}\t{number}\n" for number in range(9)))
    git(bob, "update-ref", "refs/heads/main", git(bob, "commit-tree", tree))
    download = read(clones, DEADLINE)
    assert [each.entry for each in download.submissions] == ["hw-anna"]
    assert "more than 10,000,000 bytes" in next(each.reason for each in download.strays if each.entry == "hw-bob")


def test_a_deadline_needs_commits_and_a_zone(tmp_path, capsys):
    write_whole(tmp_path / "class" / "anna" / "layers.py", "")
    with pytest.raises(UserError, match="has no commits .layout: a folder with one entry per submission"):
        read(tmp_path / "class", DEADLINE)
    with pytest.raises(SystemExit) as caught:
        main(["list-class", str(tmp_path / "class"), "--deadline", "2026-12-18 23:00"])
    assert caught.value.code == 2 and "expected a time with its zone, such as" in capsys.readouterr().err


def test_classroom_50_from_clones_to_late_days(commit, tmp_path, typed, output):
    """`list-class` and `grade-class` have the same times, with whose word they are; who was too late has the reason."""
    for name, date in (("anna", EARLY), ("bob", EARLY), ("bob", LATE), ("dora", LATE)):
        typed.folder = commit(f"cs-transformer-{name}", f"# {name} {date}\n", date).parent
    write_whole(typed.folder / "cs-transformer-carl" / "layers.py", "")
    lines = [f"{name},{name.title()},X,,1,{number}" for number, name in enumerate(("Anna", "bob", "carl", "dora"))]
    typed.enrol("\n".join(["username,first_name,last_name,email,section,github_id", *lines, ""]))
    policy = f"due = {DEADLINE.isoformat()}\npercent_per_day = 10"
    typed.assignment = ["--assignment", changed_assignment(tmp_path / "assignment.toml", late=policy)]
    assert typed.run("list-class", typed.folder, *typed.options, *typed.assignment) == 1, "carl's files have no time"
    assert "of git repositories\n4 submissions, from 4 of 4 students\nnote: times are those of commits" in typed.out
    assert "cs-transformer-bob   Bob X; 2026-12-20 12:00 UTC; 2 days late" in typed.out
    assert typed.grade() == 1 and "late (2): Bob X, Dora X" in typed.out and "note: times are those of" in typed.out
    assert [*typed.scores().values()] == [100, 80, None, 80]
    assert typed.grade("--deadline", "2026-12-19T00:00+01:00") == 1
    assert [*typed.scores().values()] == [100, 100, None, None]
    late = {name: (typed.row(name)["status"], typed.row(name)["reason"]) for name in ("carl", "dora")}
    none = "nothing handed in", "cs-transformer-dora: no commit before the deadline"
    assert late["dora"] == none and late["carl"][1].startswith("cs-transformer-carl: no .git in it, so it is not known")
    assert f"Dora X dora ({none[1]})" in words_of((output / "class.html").read_text())
    assert "committed again after the deadline (1): Bob X" in typed.out
    changed_assignment(tmp_path / "assignment.toml", late=f"{policy}\ngrace_hours = 37.1")
    assert typed.grade("--deadline", "2026-12-19T00:00+01:00") == 1
    assert "committed again" not in typed.out and typed.row("bob")["score"] == 100, "the later commit has the grace"


def test_a_group_has_one_repository_and_one_that_is_nobodys_is_looked_at_first(commit, typed):
    """A decision for the group counts for all of it, one for a member for that one alone."""
    for name in ("hw-1-anna", "hw-1-team-1", "hw-1-zed", "sandbox"):
        typed.folder = commit(name, f"# {name}\n").parent
    lines = ["id,name,github_username,group", "u1,Anna X,anna,", "u2,Bob Y,bob,Team 1", "u3,Carl Z,carl,Team 1", ""]
    typed.enrol("\n".join(lines))
    assert typed.grade() == 1 and typed.scores() == {"u1": 100, "u2": 100, "u3": 100}
    assert "look at these first:\n  sandbox: not named hw-1-… as the others are\n  hw-1-zed: fits no" in typed.out
    assert typed.decide("override", "team 1", "--task", "1.3", "--points", "4", "--why", "x") == 0
    assert typed.out.startswith("Bob Y (u2), Carl Z (u3): 1.3 Multi-headed attention: 4 points by hand")
    assert typed.decide("override", "carl", "--task", "1.3", "--withdraw", "--why", "x") == 0
    assert "counts for Carl Z (u3) alone; name hw-1-team-1 to decide also for: Bob Y (u2)\n" in typed.err
    typed.grade()
    assert typed.scores() == {"u1": 100, "u2": 90, "u3": 100}


def test_the_script_for_classroom_50_writes_result_json_v1(commit, tmp_path):
    """The one in the documentation, with a stub in the place of pytest; fields by Classroom 50's wiki."""
    kit, clone = tmp_path / "assignment", commit("cs-transformer-anna", "# anna\n", LATE)
    write_whole(clone / "student" / "layers.py", "# by anna\n")
    (kit / "student").mkdir(parents=True)
    (kit / "requirements.txt").touch()
    (kit / "pip.py").touch()
    printed = "1.1 Input embedding: 4 of 4 points\n1.2 Attention: 7.5 of 14 points; missing: masks"
    (kit / "pytest.py").write_text(f"print({printed!r})")
    [script] = re.findall(r"```python\n(.*?)```", (ROOT / "docs/how-to/platforms.md").read_text(), re.DOTALL)
    (tmp_path / "autograder.py").write_text(script)
    variables = ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **{name: name.lower() for name in variables}}
    subprocess.run([sys.executable, tmp_path / "autograder.py"], cwd=clone, env=environment, check=True)
    result = json.loads((clone / "result.json").read_text())
    assert (kit / "student" / "layers.py").read_text() == "# by anna\n"
    tests = {test.pop("test-name"): test for test in result.pop("tests")}
    assert tests["1.1"] == {"passed": True, "score": 4, "max-score": 4}
    assert tests["1.2"] == {"passed": False, "score": 7, "max-score": 14} and tests["1.3"]["score"] == 0
    assert result.pop("max-score") == sum(int(test["max-score"]) for test in tests.values())
    fields = [result.pop(field) for field in ("classroom", "assignment", "submission", "commit", "release")]
    assert fields == [name.lower() for name in variables]
    assert result == {"schema": "classroom50/result/v1", "score": 11, "review": "commit_url", "datetime": LATE}
