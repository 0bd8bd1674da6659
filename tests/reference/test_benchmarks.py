"""The measurements run on a fresh clone, and a user's error is one line."""

import inspect

import pytest

from benchmarks import decoding, speed
from benchmarks.__main__ import main, make_parser
from given.config import PRESETS

TORCH = "torch.nn.Transformer"
PAIRS = [
    ([subject, verb, "."], [other, action, "."])
    for subject, other in (("je", "i"), ("tu", "you"))
    for verb, action in (("mange", "eat"), ("dors", "sleep"), ("parle", "speak"))
]


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A small corpus and a small model in place of the real ones, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(decoding, "read_pairs", lambda path: PAIRS)
    monkeypatch.setitem(PRESETS, "course", PRESETS["tiny"])
    (tmp_path / "dev").write_text("".join(f"{' '.join(src)}|||{' '.join(tgt)}\n" for src, tgt in PAIRS))
    return tmp_path


def test_mistakes_get_one_line(small, capsys):
    assert main(["decoding", "--checkpoint", "nowhere.pt"]) == 2
    assert capsys.readouterr().err == "benchmarks: nowhere.pt: No such file or directory; `train` writes it\n"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["ablations", "--train", "latin"], "latin: not UTF-8 text (byte 0)"),
        (["similarity", "--count", "3", "--copies", "2"], "--copies 2: expected at most half of the 3 submissions"),
    ],
)
def test_what_cannot_be_measured_is_told_in_one_line(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin").write_bytes("é".encode("latin-1"))
    assert main(arguments) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"benchmarks: {message}") and printed.count("\n") == 1


def test_speed_compares_all_ways_on_the_same_batches(small, capsys):
    assert main(["speed", "--train", "dev", "--presets", "course", "--batches", "2"]) == 0
    out = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in out.splitlines() if line.startswith("| ")]
    assert rows[0] == ["way", "tokens/s", "ms a step", *(f"against {n}" for n in ("the first", TORCH))]
    assert [row[0] for row in rows[2:]] == list(speed.WAYS)
    assert rows[2][-2] == "1.00 x" and rows[3][-1] == "1.00 x"


@pytest.mark.slow
def test_the_cost_of_a_whole_run(small, capsys):
    (small / "train").write_text((small / "dev").read_text())
    arguments = ["--train", "train", "--dev", "dev", "--preset", "tiny"]
    assert main(["quick", *arguments]) == 0
    row = [cell.strip() for cell in capsys.readouterr().out.splitlines()[-1].split("|")[1:-1]]
    assert row[0] == "tiny" and float(row[1]) >= 0 and float(row[2]) > 0.5 and float(row[4]) > 50
    (small / "train").write_text("no pair\n")
    assert main(["quick", *arguments]) == 2


def test_options_are_named_as_the_parameters_of_what_measures():
    commands = next(action.choices for action in make_parser()._actions if action.choices)
    for name, parser in commands.items():
        options = vars(parser.parse_args([]))
        parameters = inspect.signature(options.pop("measure")).parameters
        assert options.keys() == parameters.keys(), name
