"""Settings, schedules, checkpoints, a short run."""

import argparse
import json
import math
import re
import resource
import signal
from dataclasses import fields, replace

import pytest
import torch

from given.building import build_model, learning_rate_factor
from given.config import PRESETS, Config, ConfigError, add_config_flags, config_from_flags
from given.experiment import Experiment
from given.run_folder import Checkpoint, CheckpointError, generators
from given.runs import read_run
from reference.train import batch_loss

PAIRS = [
    ([subject, verb, "."], [other, action, "."])
    for subject, other in (("je", "i"), ("tu", "you"), ("il", "he"), ("nous", "we"))
    for verb, action in (("mange", "eat"), ("dors", "sleep"), ("parle", "speak"), ("chante", "sing"))
]
SMALL = replace(PRESETS["tiny"], d_model=16, d_ff=16, epochs=3, batch_size=4, dropout=0.1, learning_rate=5e-3)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"d_modle": 8}, "unknown setting 'd_modle'; did you mean 'd_model'?"),
        ({"d_model": 10}, "d_model = 10 is not a multiple of n_heads = 4"),
        ({"dropout": 1.5}, "dropout = 1.5: expected between 0.0 and 1.0"),
        ({"dropout": float("nan")}, "dropout = nan: expected between"),
        ({"learning_rate": float("inf")}, "learning_rate = inf: expected a finite number"),
        ({"length_penalty": float("nan")}, "length_penalty = nan: expected between -10.0 and 10.0"),
        ({"adam_beta2": 1.0}, "adam_beta2 = 1.0: expected a number below 1.0"),
        ({"diagonal_random": 0.5}, "diagonal_random = 0.5 has no effect with diagonal_width = 0: give both or neither"),
        ({"seed": 2**64}, f"seed = {2**64}: expected between 0 and {2**64 - 1}"),
        ({"beam_size": 1000000}, "beam_size = 1000000: expected between 1 and 100"),
        ({"epochs": "10"}, "epochs = '10': expected int"),
        ({"epochs": True}, "epochs = True: expected int"),
        ({"schedule": "square"}, "schedule = 'square': expected one of constant, inverse_sqrt, cosine, linear"),
    ],
)
def test_bad_settings_say_what_would_be_right(settings, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        Config.from_dict(settings)


def test_every_setting_has_a_flag_and_every_flag_a_setting():
    parser = argparse.ArgumentParser()
    add_config_flags(parser)
    flags = {action.dest for action in parser._actions} - {"help", "preset", "settings"}
    assert flags == {item.name for item in fields(Config)}
    options = parser.parse_args(["--preset", "fast", "--d-model", "64", "--no-norm-first"])
    assert config_from_flags(parser.parse_args([])) == PRESETS["course"]
    assert config_from_flags(options) == replace(PRESETS["fast"], d_model=64, norm_first=False)


def test_schedules_by_hand():
    def factors(schedule):
        return [learning_rate_factor(schedule, step, 4, 12) for step in (0, 1, 3, 7, 11)]

    assert factors("constant") == [0.25, 0.5, 1, 1, 1]
    assert factors("inverse_sqrt") == pytest.approx([0.25, 0.5, 1, math.sqrt(4 / 8), math.sqrt(4 / 12)])
    assert factors("linear") == pytest.approx([0.25, 0.5, 1, 0.5, 0])
    assert factors("cosine") == pytest.approx([0.25, 0.5, 1, 0.5, 0])


def run_epochs(run, count):
    for _ in range(count):
        run.run_epoch(progress=False)
    return run


def results(run):
    return [{key: line[key] for key in ("train_loss", "dev_loss", "dev_bleu")} for line in run.history]


@pytest.mark.parametrize("diagonal", [{}, {"diagonal_width": 1, "diagonal_random": 0.3}])
def test_a_resumed_run_is_the_uninterrupted_one(tmp_path, diagonal):
    config = replace(SMALL, schedule="cosine", accumulate=2, max_grad_norm=1.0, **diagonal)
    whole = run_epochs(Experiment(config, PAIRS, PAIRS[:4]), 3)
    first = run_epochs(Experiment(config, PAIRS, PAIRS[:4]), 1)
    first.checkpoint().save(tmp_path / "last.pt")
    torch.manual_seed(999)
    resumed = run_epochs(Experiment.resume(tmp_path / "last.pt", PAIRS, PAIRS[:4]), 2)
    assert results(resumed) == results(whole)
    for actual, expected in zip(resumed.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(actual, expected)


def test_a_run_learns_and_writes_its_folder(tmp_path, capsys):
    run = Experiment(replace(SMALL, epochs=12), PAIRS, PAIRS)
    run.run(tmp_path / "run", progress=False)
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {"last.pt", "best.pt", "settings.toml", "history.jsonl"}
    history = [json.loads(line) for line in (tmp_path / "run" / "history.jsonl").read_text().splitlines()]
    assert len(history) == 12
    assert history[-1]["train_loss"] < history[0]["train_loss"] / 1.5
    assert "dev_bleu" in capsys.readouterr().out


def test_dev_loss_is_the_loss_of_training_in_eval_mode():
    run = run_epochs(Experiment(SMALL, PAIRS, PAIRS[:5]), 1)
    run.model.eval()
    losses = [batch_loss(run.model, batch, run.criterion).item() for batch in run.development.loader.epoch(0)]
    assert run.dev_loss() == pytest.approx(sum(losses) / len(losses), rel=1e-5)


def test_a_student_may_leave_batch_loss_unwritten(tmp_path, monkeypatch):
    def unwritten(*arguments):
        raise NotImplementedError("TODO 3.1")

    monkeypatch.setattr("reference.train.batch_loss", unwritten)
    monkeypatch.setattr("reference.train.train_epoch", lambda *arguments, **options: 1.0)
    Experiment(replace(SMALL, epochs=1), PAIRS, PAIRS[:4]).run(tmp_path, progress=False)
    assert Checkpoint.load(tmp_path / "best.pt").epoch == 1


def test_what_is_unwritten_stops_before_an_epoch_is_trained(tmp_path, monkeypatch):
    def unwritten(*arguments, **options):
        raise NotImplementedError("TODO E.3")

    monkeypatch.setattr("reference.decode.beam_decode", unwritten)
    monkeypatch.setattr("reference.train.train_epoch", lambda *inputs, **options: pytest.fail("trained"))
    with pytest.raises(NotImplementedError, match="TODO E.3"):
        Experiment(replace(SMALL, beam_size=2, cached=False), PAIRS, PAIRS[:4]).run(tmp_path, progress=False)


@pytest.mark.parametrize("n_saved", [2, 3])
def test_a_run_that_is_stopped_between_two_files_loses_none(tmp_path, monkeypatch, n_saved):
    save, saved, config = Checkpoint.save, [], replace(SMALL, epochs=2)

    def stop_after(checkpoint, path):
        if len(saved) == n_saved:
            raise KeyboardInterrupt
        saved.append(path.name)
        save(checkpoint, path)

    scores = {1: 0.2, 2: 0.4}
    monkeypatch.setattr("given.experiment.bleu", lambda *texts: scores[len(run.history) + 1])
    monkeypatch.setattr(Checkpoint, "save", stop_after)
    run = Experiment(config, PAIRS, PAIRS[:4])
    with pytest.raises(KeyboardInterrupt):
        run.run(tmp_path, progress=False)
    assert saved == ["best.pt", "last.pt", "best.pt"][:n_saved]
    monkeypatch.setattr(Checkpoint, "save", save)
    run = Experiment.resume(tmp_path / "last.pt", PAIRS, PAIRS[:4])
    run.run(tmp_path, progress=False)
    assert [Checkpoint.load(tmp_path / name).epoch for name in ("best.pt", "last.pt")] == [2, 2]
    lines = (tmp_path / "history.jsonl").read_text().splitlines()
    assert [json.loads(line)["dev_bleu"] for line in lines] == [0.2, 0.4]
    assert not list(tmp_path.glob(".unfinished*"))


def test_a_lost_best_checkpoint_is_made_again(tmp_path, monkeypatch):
    scores = {1: 0.9, 2: 0.1, 3: 0.2}
    monkeypatch.setattr("given.experiment.bleu", lambda *texts: scores[len(run.history) + 1])
    run = Experiment(SMALL, PAIRS, PAIRS[:4])
    run_epochs(run, 2).checkpoint().save(tmp_path / "last.pt")
    seen, run_epoch = [], Experiment.run_epoch

    def look(self, *arguments):
        seen.append(Checkpoint.load(tmp_path / "best.pt").epoch)
        return run_epoch(self, *arguments)

    monkeypatch.setattr(Experiment, "run_epoch", look)
    run = Experiment.resume(tmp_path / "last.pt", PAIRS, PAIRS[:4])
    run.run(tmp_path, progress=False)
    assert seen == [2], "the weights of the first epoch are gone"
    assert Checkpoint.load(tmp_path / "best.pt").epoch == 3


@pytest.mark.usefixtures("curves")
def test_a_new_run_takes_the_place_of_an_older_one_when_it_saves(tmp_path, monkeypatch, capsys):
    Experiment(replace(SMALL, epochs=2), PAIRS, PAIRS[:4]).run(
        tmp_path, progress=False, keep_epochs=True, tensorboard=True
    )
    (tmp_path / "translations.txt").touch()
    older = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert "older run" not in capsys.readouterr().out
    monkeypatch.setattr("reference.train.train_epoch", lambda *arguments, **options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Experiment(replace(SMALL, epochs=1), PAIRS, PAIRS[:4]).run(tmp_path, progress=False)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == older
    assert f"{tmp_path} holds an older run; it is removed when" in capsys.readouterr().out
    monkeypatch.setattr("reference.train.train_epoch", lambda *arguments, **options: 1.0)
    Experiment(replace(SMALL, epochs=1), PAIRS, PAIRS[:4]).run(tmp_path, progress=False)
    names = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert names == {"best.pt", "last.pt", "settings.toml", "history.jsonl", "curves.png", "translations.txt"}
    assert Checkpoint.load(tmp_path / "best.pt").epoch == 1


def test_of_equal_epochs_the_first_is_the_best(tmp_path, monkeypatch):
    monkeypatch.setattr("given.experiment.bleu", lambda *texts: 0.0)
    Experiment(replace(SMALL, epochs=2), PAIRS, PAIRS[:4]).run(tmp_path, progress=False)
    assert Checkpoint.load(tmp_path / "best.pt").epoch == read_run(tmp_path)["best_epoch"] == 1


@pytest.mark.slow
def test_weights_of_every_epoch_and_curves_for_tensorboard(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = Experiment(replace(SMALL, epochs=2), PAIRS, PAIRS[:4])
    run.run(tmp_path, progress=False, keep_epochs=True, tensorboard=True)
    assert {path.name for path in tmp_path.glob("epoch-*")} == {"epoch-01.pt", "epoch-02.pt"}
    assert Checkpoint.load(tmp_path / "epoch-01.pt").epoch == 1
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    for name in ("train_loss", "dev_loss", "dev_bleu"):
        values = [event.value for event in events.Scalars(name)]
        assert values == pytest.approx([line[name] for line in run.history])


@pytest.mark.parametrize("content, message", [(b"", "not a checkpoint"), (b"rubbish" * 99, "not a checkpoint")])
def test_damaged_checkpoints_are_refused(tmp_path, content, message):
    path = tmp_path / "c.pt"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=message):
        Checkpoint.load(path)


def test_other_checkpoints_are_refused(tmp_path):
    torch.save({"format": 99}, tmp_path / "c.pt")
    with pytest.raises(CheckpointError, match="checkpoint format 99, expected 1"):
        Checkpoint.load(tmp_path / "c.pt")
    with pytest.raises(CheckpointError, match="No such file"):
        Checkpoint.load(tmp_path / "none.pt")


@pytest.mark.parametrize(
    "change, message",
    [
        ({"history": "missing"}, "missing 1 required positional argument: 'history'"),
        ({"colour": 1}, "got an unexpected keyword argument 'colour'"),
        ({"src_vocab": ["a", "a"]}, "the token 'a' occurs twice"),
        ({"config": 7}, "not iterable"),
    ],
)
def test_checkpoints_with_wrong_fields_are_refused(tmp_path, change, message):
    path = tmp_path / "c.pt"
    Experiment(SMALL, PAIRS, PAIRS[:4]).checkpoint().save(path)
    content = torch.load(path, weights_only=True) | change
    torch.save({name: value for name, value in content.items() if value != "missing"}, path)
    with pytest.raises(CheckpointError, match=f"c.pt: .*{message}"):
        Checkpoint.load(path)


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path):
    path, checkpoint = tmp_path / "c.pt", Experiment(SMALL, PAIRS, PAIRS[:4]).checkpoint()
    path.write_text("old")
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large.*c.pt"):
            checkpoint.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_checkpoint_cannot_run_code(tmp_path):
    class Trap:
        def __reduce__(self):
            return print, ("the checkpoint ran code",)

    torch.save({"format": 1, "weights": Trap()}, tmp_path / "c.pt")
    with pytest.raises(CheckpointError):
        Checkpoint.load(tmp_path / "c.pt")


def test_resuming_on_other_data_is_refused(tmp_path):
    run_epochs(Experiment(SMALL, PAIRS, PAIRS[:4]), 1).checkpoint().save(tmp_path / "last.pt")
    for train, dev, flag in ((PAIRS[:8], PAIRS[:4], "train"), (PAIRS * 2, PAIRS[:4], "train"), (PAIRS, PAIRS, "dev")):
        with pytest.raises(CheckpointError, match=f"last.pt: was trained with other pairs for --{flag}"):
            Experiment.resume(tmp_path / "last.pt", train, dev)


def test_checkpoints_without_fingerprints_are_read(tmp_path):
    replace(run_epochs(Experiment(SMALL, PAIRS, PAIRS[:4]), 1).checkpoint(), corpus=None).save(tmp_path / "last.pt")
    content = torch.load(tmp_path / "last.pt", weights_only=True)
    torch.save({name: value for name, value in content.items() if name != "corpus"}, tmp_path / "last.pt")
    assert len(Experiment.resume(tmp_path / "last.pt", PAIRS, PAIRS[:4]).history) == 1
    with pytest.raises(CheckpointError, match="the vocabularies differ"):
        Experiment.resume(tmp_path / "last.pt", PAIRS[:8], PAIRS[:4])


def test_a_model_of_other_layout_is_refused(tmp_path):
    run = run_epochs(Experiment(SMALL, PAIRS, PAIRS[:4]), 1)
    saved = run.checkpoint()
    other = build_model(replace(SMALL, n_layers=2), len(run.src_vocab), len(run.tgt_vocab))
    with pytest.raises(CheckpointError, match="c.pt: does not fit this model: .*layers.1"):
        saved.load_weights(other, "c.pt")


def test_generators_of_another_device_are_kept_too():
    found = generators("cuda:1")
    assert found == {"cpu": torch.random, "cuda": torch.cuda}
    assert generators("cpu") == {"cpu": torch.random}
    assert all(callable(getattr(module, "get_rng_state", None)) for module in found.values())
    assert all(callable(getattr(module, "set_rng_state", None)) for module in found.values())
