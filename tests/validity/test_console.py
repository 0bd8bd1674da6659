"""A command line is made of functions: their parameters, defaults and docstrings."""

import shlex
from pathlib import Path
from typing import Annotated

import pytest

from benchmarks.__main__ import COMMANDS as MEASUREMENTS
from foundation.command_line import positive
from foundation.places import ROOT
from validity.__main__ import COMMANDS
from validity.console import CommandError, main_of, make_parser, option, run_python, table


def sample(
    place: Annotated[Path | None, option("a folder", type=Path, nargs="?")] = None,
    most_seeds: Annotated[int, option("number of seeds", type=positive)] = 3,
    output: Annotated[Path, option("a file", type=Path)] = ROOT / "runs",
    is_fast: Annotated[bool, option("hurry", action="store_true")] = False,
) -> int:
    """Try a sample.

    It prints what it is given.
    """
    print(place, most_seeds, output.name, is_fast)
    return most_seeds - 3


def test_parameters_are_options(tmp_path, capsys):
    parser = make_parser("kit", "A kit.", {"sample": (sample, "here")})
    assert main_of("kit", parser, ["sample"]) == 0
    assert main_of("kit", parser, ["sample", "x", "--most-seeds", "4", "--output", str(tmp_path), "--is-fast"]) == 1
    assert capsys.readouterr().out == f"None 3 runs False\nx 4 {tmp_path.name} True\n"
    for arguments in (["--help"], ["sample", "--help"]):
        with pytest.raises(SystemExit):
            parser.parse_args(arguments)
    shown = " ".join(capsys.readouterr().out.split())
    for part in ("Try a sample.", "It prints what it is given.", "of seeds (default: 3)", "a file (default: runs)"):
        assert part in shown
    assert "example: python -m kit sample here" in shown


@pytest.mark.parametrize("program, commands", [("validity", COMMANDS), ("benchmarks", MEASUREMENTS)])
def test_every_example_is_one(program, commands):
    parser = make_parser(program, None, commands)
    assert all(parser.parse_args([name, *shlex.split(example)]) for name, (_, example) in commands.items())


def test_a_command_that_fails_is_named_with_its_last_line():
    with pytest.raises(CommandError, match=r"python -c .* ended with status 3: so it is"):
        run_python("-c", "print('first\\nso it is'); raise SystemExit(3)")


def test_a_table_shows_its_head_its_rows_and_bars_in_cells():
    assert table(("a", "b"), [(1, "x|y"), (2.5, "")]).split("\n") == [
        "| a | b |",
        "| --- | --- |",
        "| 1 | x\\|y |",
        "| 2.5 |  |",
    ]
