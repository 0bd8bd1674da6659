"""The measurements run on a fresh clone, and a user's error is one line."""

import inspect
from dataclasses import replace

import pytest
import torch

from benchmarks import decoding, speed, training
from benchmarks.__main__ import main, make_parser
from benchmarks.processes import CommandError, run
from foundation.places import REFERENCE
from given.config import PRESETS
from given.experiment import Experiment
from given.run_folder import Checkpoint
from reference.data import Batch

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


@pytest.mark.slow
def test_decoding_trains_its_model_once(small, capsys, monkeypatch):
    monkeypatch.setattr(decoding, "REPEATS", 1)
    monkeypatch.setattr(decoding, "ROUNDS", 1)
    assert main(["decoding", "--input", "dev"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.endswith("| 6 of 6 |")]
    assert len(rows) == len(decoding.WAYS)
    assert Checkpoint.load("runs/bench/last.pt").epoch == 3
    with monkeypatch.context() as patch:
        patch.setattr(Experiment, "run", lambda *arguments: pytest.fail("trained again"))
        assert main(["decoding", "--input", "dev"]) == 0
    monkeypatch.setattr(decoding, "read_pairs", lambda path: PAIRS[1:])
    monkeypatch.setattr(Experiment, "run", lambda *arguments: (_ for _ in ()).throw(KeyboardInterrupt))
    assert main(["decoding", "--input", "dev"]) == 130, "another corpus: another model"


def test_mistakes_get_one_line(small, capsys):
    assert main(["decoding", "--checkpoint", "nowhere.pt"]) == 2
    assert capsys.readouterr().err == "benchmarks: nowhere.pt: No such file or directory; `train` writes it\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["speed", "--batches", "0"],
        ["grading", "--count", "-1"],
        ["tables", "--jobs", "0"],
    ],
)
def test_nothing_to_measure_is_told_in_one_line(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    printed = capsys.readouterr().err
    assert f"{arguments[1]}: '{arguments[2]}': expected a whole number of at least 1" in printed
    assert printed.count("\n") == 1


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


@pytest.mark.parametrize("norm_first", [False, True])
def test_the_rival_computes_the_same_function_of_its_input(norm_first):
    """Later target tokens and padding change nothing, so its losses mean what the reference's mean."""
    config = replace(PRESETS["tiny"], norm_first=norm_first, dropout=0.0, d_model=16)
    rival = speed.TorchTransformer(9, 9, config).eval()
    one = Batch.from_ids([[5, 6], [7, 8, 4]], [[5, 4, 6], [7, 8, 8]])
    other = Batch.from_ids([[5, 6]], [[5, 4]])
    scores = []
    for batch in (one, other):
        memory, _ = rival.encode(batch.src, batch.src_mask)
        scores.append(rival.get_predictions(rival.decode(batch.tgt_input, memory, batch.src_mask, batch.tgt_mask)[0]))
    torch.testing.assert_close(scores[0][0, :3], scores[1][0])


def test_ablations_are_trained_again_for_other_settings_and_pairs(small, capsys, monkeypatch):
    trained = []

    def bleu_without(part, train, dev, *flags):
        trained.append(flags)
        return 0.1 * flags[-1]

    monkeypatch.setattr(training, "bleu_without", bleu_without)
    (small / "other").write_text((small / "dev").read_text().replace("mange", "dort"))
    ways = len(training.ABLATIONS) + 1
    for n_trained, train, epochs in ((ways, "dev", 2), (ways, "dev", 1), (0, "dev", 1), (ways, "other", 1)):
        del trained[:]
        assert main(["ablations", "--seeds", "1", "--epochs", str(epochs), "--train", train, "--dev", "dev"]) == 0
        assert trained == [("--seed", 0, "--epochs", epochs)] * n_trained
        assert f"| intact, 1 seed | 0.{epochs}00 to 0.{epochs}00" in capsys.readouterr().out


@pytest.mark.slow
def test_a_part_of_the_reference_can_be_left_out(small):
    for file, old, _ in training.ABLATIONS.values():
        assert (REFERENCE / file).read_text().count(old) == 1
    part = next(iter(training.ABLATIONS))
    assert 0 <= training.bleu_without(part, small / "dev", small / "dev", "--epochs", 1, "--d-model", 8) <= 1


def test_a_command_that_fails_is_told_in_one_line():
    with pytest.raises(CommandError, match="^-m data prepare ended with status 2: .*--output"):
        run("-m", "data", "prepare")


@pytest.mark.slow
def test_the_cost_of_a_whole_run(small, capsys):
    (small / "train").write_text((small / "dev").read_text())
    arguments = ["--train", "train", "--dev", "dev", "--preset", "tiny"]
    assert main(["quick", *arguments]) == 0
    row = [cell.strip() for cell in capsys.readouterr().out.splitlines()[-1].split("|")[1:-1]]
    assert row[0] == "tiny" and float(row[1]) >= 0 and float(row[2]) > 0.5 and float(row[4]) > 50
    (small / "train").write_text("no pair\n")
    assert main(["quick", *arguments]) == 2


def test_tricks_are_taken_back_one_at_a_time():
    flags = training.tricks("quick")
    assert flags["norm_first"] == ["--no-norm-first"] and flags["dropout"] == ["--dropout", "0.2"]
    assert flags["precision"] == ["--precision", "float32"] and "epochs" not in flags


def test_options_are_named_as_the_parameters_of_what_measures():
    commands = next(action.choices for action in make_parser()._actions if action.choices)
    for name, parser in commands.items():
        options = vars(parser.parse_args([]))
        parameters = inspect.signature(options.pop("measure")).parameters
        assert options.keys() == parameters.keys(), name
