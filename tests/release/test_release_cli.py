"""`python -m release` as an instructor and CI call it."""

import json
from pathlib import Path

import pytest

from release import __main__ as cli
from release.build import Project
from release.gates.running import Verdict, gate


@pytest.fixture
def run(project: Project, capsys: pytest.CaptureFixture[str]):
    """Runs a command on the example; returns exit status, stdout and stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        status = cli.main([arguments[0], "--root", str(project.root), *arguments[1:]])
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def quick_gates(monkeypatch) -> None:
    monkeypatch.setattr(cli, "GATES", (gate("quick", lambda _: Verdict("looked")),))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.slow
def test_a_whole_build_with_every_gate(run, project: Project) -> None:
    status, out, err = run("build")
    assert status == 0, out + err
    assert out.count("✓") == sum(len(each.names) for each in cli.GATES) and "✗" not in out
    assert "made  student/" in out and "next" in out
    assert run("check") == (0, "student/ and the notebooks are up to date\n", "")


def test_a_failed_gate_leaves_everything_as_it_was(run, project: Project, quick_gates, monkeypatch) -> None:
    assert run("build")[0] == 0
    before = contents(project.root)
    path = project.reference / "mean.py"
    path.write_text(path.read_text() + "\n\nX = 1\n")
    monkeypatch.setattr(cli, "GATES", (gate("closed", lambda _: Verdict("no", ["a.py:1: wrong"])),))
    status, out, err = run("build")
    assert status == 1
    assert "✗ closed" in out and "a.py:1: wrong" in out and "a gate failed" in err
    after = contents(project.root)
    assert {name: text for name, text in after.items() if name != str(path)} == {
        name: text for name, text in before.items() if name != str(path)
    }


def test_check_names_files_and_the_command_that_mends(run, project: Project, quick_gates) -> None:
    status, _, err = run("check")
    assert status == 1
    assert "student/table.py is missing" in err and "python -m release build" in err
    assert run("build")[0] == 0
    (project.root / "student" / "table.py").write_text("x = 1\n")
    status, _, err = run("check")
    assert (status, err.splitlines()[0]) == (1, "student/table.py is out of date")


def test_malformed_markers_stop_with_file_and_line(run, project: Project, quick_gates) -> None:
    for name in ("mean.py", "table.py"):
        path = project.reference / name
        path.write_text(path.read_text().replace("### BEGIN SOLUTION\n", "## BEGIN SOLUTION\n", 1))
    status, out, err = run("build")
    assert (status, out) == (2, "")
    assert "reference/mean.py:12: `## BEGIN SOLUTION` looks like a marker; write `### BEGIN SOLUTION`" in err
    assert "reference/table.py:17: " in err
    assert "stopped by 2 problems; nothing was written" in err
    assert not (project.root / "student").exists() and not (project.root / "dist").exists()


def test_work_of_the_user_stops_the_build_before_the_gates(run, project: Project, quick_gates) -> None:
    assert run("build")[0] == 0
    student = project.root / "student"
    (student / "notes.py").write_text("my notes\n")
    status, out, _ = run("build")
    assert status == 0
    assert "note  student/notes.py is not made from reference/; left alone" in out
    (student / "mean.py").write_text("my work\n")
    status, out, err = run("build")
    assert (status, out) == (2, "")
    assert "student/mean.py" in err and "--force" in err
    assert run("build", "--force")[0] == 0


def test_json_for_programs(run, quick_gates) -> None:
    status, out, _ = run("build", "--json")
    answer = json.loads(out)
    assert (status, answer["passed"], answer["gates"][0]["name"]) == (0, True, "quick")


def test_another_output_folder(run, project: Project, tmp_path: Path, quick_gates) -> None:
    before = contents(project.root)
    assert run("build", "--output", str(tmp_path / "new" / "place"))[0] == 0
    assert (tmp_path / "new" / "place" / "student" / "table.py").is_file()
    assert (tmp_path / "new" / "place" / "dist" / "student.zip").is_file()
    assert contents(project.root) == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("build", "--reference", "nowhere"), "nowhere: no files there; name the folder with --reference"),
        (("check", "--reference", "nowhere"), "no files there"),
        (("build", "--output", "/dev/null/x"), "Not a directory"),
    ],
)
def test_bad_input_is_one_line_and_status_2(run, quick_gates, arguments: tuple[str, ...], says: str) -> None:
    status, _, err = run(*arguments)
    assert status == 2
    assert says in err and "Traceback" not in err


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], ["build", "--help"], ["check", "--help"]):
        with pytest.raises(SystemExit):
            cli.main(arguments)
        assert "example: python -m release" in capsys.readouterr().out
