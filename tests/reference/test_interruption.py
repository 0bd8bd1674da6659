"""Training by steps, Ctrl-C, resuming within an epoch, prolonging a run."""

import functools
import signal
from dataclasses import replace

import pytest
import torch

from given.config import PRESETS, ConfigError
from given.experiment import Experiment
from given.measuring import Development
from given.run_folder import Checkpoint, RunFolder, kept_name
from reference.__main__ import main
from reference.data import BatchLoader

pytestmark = pytest.mark.slow  # whole runs are trained; test_experiment.py has a short one that resumes

PAIRS = [
    ([subject, verb, "."], [other, action, "."])
    for subject, other in (("je", "i"), ("tu", "you"), ("il", "he"), ("nous", "we"))
    for verb, action in (("mange", "eat"), ("dors", "sleep"), ("parle", "speak"), ("chante", "sing"))
][:15]
DEV = PAIRS[:4]
SMALL = replace(
    PRESETS["tiny"], d_model=16, d_ff=16, epochs=3, batch_size=2, dropout=0.2, learning_rate=5e-3
)  # 8 batches


def figures(run):
    return [{name: value for name, value in line.items() if name != "seconds"} for line in run.history]


def assert_same(run, other):
    assert figures(run) == figures(other)
    assert run.step == other.step
    for actual, expected in zip(run.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(actual, expected)


def interrupt_at(monkeypatch, batch, epoch=0, times=1):
    """Presses Ctrl-C when a batch of an epoch is fetched; once only."""
    fetch, pressed = BatchLoader.epoch, []

    def epoch_of(self, number, start=0):
        for index, found in enumerate(fetch(self, number, start), start=start):
            if (number, index) == (epoch, batch) and not pressed and len(self.pairs) == len(PAIRS):
                for _ in range(times):
                    pressed.append(index)
                    signal.raise_signal(signal.SIGINT)
            yield found

    monkeypatch.setattr(BatchLoader, "epoch", epoch_of)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Runs that nothing has stopped, with their folders; one of each configuration."""

    @functools.cache
    def run(config):
        folder = tmp_path_factory.mktemp("undisturbed")
        whole = Experiment(config, PAIRS, DEV)
        whole.run(folder, progress=False)
        return whole, folder

    return run


@pytest.mark.parametrize(
    "batch, epoch",
    [(3, 0), (4, 1), *(pytest.param(batch, 0, marks=pytest.mark.slow) for batch in (0, 7))],
)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"accumulate": 3, "schedule": "cosine", "warmup_steps": 4, "max_grad_norm": 0.5, "bucketing": True},
        {"report_every": 3},
        {"max_steps": 13, "diagonal_width": 1, "diagonal_random": 0.3, "schedule": "inverse_sqrt"},
        {"report_every": 5, "max_steps": 11, "accumulate": 2},
    ],
)
def test_a_run_that_is_stopped_within_an_epoch_resumes_bit_for_bit(
    tmp_path, undisturbed, monkeypatch, settings, batch, epoch
):
    config = replace(SMALL, **settings)
    whole, folder = undisturbed(config)
    before = signal.getsignal(signal.SIGINT)
    interrupt_at(monkeypatch, batch, epoch)
    with pytest.raises(KeyboardInterrupt):
        Experiment(config, PAIRS, DEV).run(tmp_path / "run", progress=False)
    assert signal.getsignal(signal.SIGINT) == before
    saved = Checkpoint.load(tmp_path / "run" / "last.pt")
    assert 0 < saved.step < whole.step
    assert saved.step % whole.steps_per_epoch == 0 or saved.since_report["batches"] or "report_every" in settings
    torch.manual_seed(999)
    resumed = Experiment.resume(tmp_path / "run" / "last.pt", PAIRS, DEV)
    resumed.run(tmp_path / "run", progress=False)
    assert_same(resumed, whole)
    assert Checkpoint.load(tmp_path / "run" / "best.pt").step == Checkpoint.load(folder / "best.pt").step


def test_ctrl_c_while_dev_is_translated_acts_at_once_and_loses_no_step(tmp_path, undisturbed, monkeypatch):
    whole, _ = undisturbed(SMALL)
    translate = Development.translate

    def stop(self, model, count=None):
        if count is None:
            signal.raise_signal(signal.SIGINT)
            pytest.fail("it went on")
        return translate(self, model, count)

    monkeypatch.setattr(Development, "translate", stop)
    with pytest.raises(KeyboardInterrupt):
        Experiment(SMALL, PAIRS, DEV).run(tmp_path / "run", progress=False)
    monkeypatch.setattr(Development, "translate", translate)
    saved = Checkpoint.load(tmp_path / "run" / "last.pt")
    assert (saved.step, saved.history) == (8, [])
    resumed = Experiment.resume(tmp_path / "run" / "last.pt", PAIRS, DEV)
    resumed.run(tmp_path / "run", progress=False)
    assert_same(resumed, whole)


@pytest.mark.parametrize("place", [(Experiment, "_look"), (RunFolder, "save_report")])
def test_ctrl_c_between_the_best_report_and_its_checkpoint_leaves_no_wrong_one(tmp_path, monkeypatch, place):
    scores = {1: 0.1, 2: 0.5, 3: 0.2}
    monkeypatch.setattr("given.experiment.bleu", lambda *texts: scores[len(run.history) + 1])
    run, function = Experiment(SMALL, PAIRS, DEV), getattr(*place)

    def stop(self, *arguments):
        if len(run.history) == 2:
            raise KeyboardInterrupt
        return function(self, *arguments)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(*place, stop)
        run.run(tmp_path, progress=False)
    run = Experiment.resume(tmp_path / "last.pt", PAIRS, DEV)
    run.run(tmp_path, progress=False)
    assert [line["dev_bleu"] for line in Checkpoint.load(tmp_path / "last.pt").history] == [0.1, 0.5, 0.2]
    assert Checkpoint.load(tmp_path / "best.pt").step == 16


def test_a_run_that_another_process_stops_saves_the_step_it_is_at(tmp_path, monkeypatch):
    """Ctrl-C reaches one of several processes; the others learn of it and stop, too."""
    monkeypatch.setattr(Experiment, "wants_to_stop", lambda run: run.scheduler.last_epoch >= 3)
    with pytest.raises(KeyboardInterrupt):
        Experiment(SMALL, PAIRS, DEV).run(tmp_path, progress=False)
    saved = Checkpoint.load(tmp_path / "last.pt")
    assert saved.step == saved.scheduler["last_epoch"] == 3


def test_a_second_ctrl_c_does_not_wait(tmp_path, monkeypatch):
    interrupt_at(monkeypatch, 3, times=2)
    with pytest.raises(KeyboardInterrupt):
        Experiment(SMALL, PAIRS, DEV).run(tmp_path, progress=False)
    assert not (tmp_path / "last.pt").exists(), "it came in the middle of a step"


def test_an_interrupted_run_replaces_an_older_one(tmp_path, monkeypatch):
    Experiment(replace(SMALL, epochs=1), PAIRS, DEV).run(tmp_path, progress=False, keep_epochs=True)
    interrupt_at(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        Experiment(SMALL, PAIRS, DEV).run(tmp_path, progress=False)
    assert {path.name for path in tmp_path.iterdir()} == {"last.pt", "settings.toml"}
    assert Checkpoint.load(tmp_path / "last.pt").step == 3


def test_steps_and_reports(tmp_path):
    run = Experiment(replace(SMALL, max_steps=11, report_every=4), PAIRS, DEV)
    run.run(tmp_path, progress=False, keep_epochs=True)
    assert [(line["step"], line["epoch"]) for line in run.history] == [(4, 0.5), (8, 1), (11, 1.375)]
    assert {path.name for path in tmp_path.glob("[es]*-*.pt")} == {"step-000004.pt", "epoch-01.pt", "step-000011.pt"}
    assert Checkpoint.load(tmp_path / "last.pt").epoch == 1


def test_reports_within_an_epoch_change_nothing_but_the_history(tmp_path):
    runs = []
    for every in (0, 3):
        runs.append(Experiment(replace(SMALL, report_every=every), PAIRS, DEV))
        runs[-1].run(tmp_path / str(every), progress=False)
    assert len(runs[1].history) == 8
    assert runs[0].history[-1]["dev_loss"] == runs[1].history[-1]["dev_loss"]
    for one, other in zip(runs[0].model.parameters(), runs[1].model.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("epoch, name", [(1, "epoch-01.pt"), (1.0, "step-002999.pt"), (0.0, "step-002999.pt")])
def test_a_checkpoint_within_an_epoch_is_named_for_its_step(epoch, name):
    """Where epochs are long, a part of one is rounded to a whole one."""
    assert kept_name({"epoch": epoch, "step": 2999}) == name


def test_a_finished_run_is_prolonged(tmp_path, undisturbed):
    whole, _ = undisturbed(SMALL)
    Experiment(replace(SMALL, epochs=2), PAIRS, DEV).run(tmp_path / "run", progress=False)
    longer = Experiment.resume(tmp_path / "run" / "last.pt", PAIRS, DEV, longer={"epochs": 3})
    longer.run(tmp_path / "run", progress=False)
    assert_same(longer, whole)
    with pytest.raises(ConfigError, match="has 24 steps already, more than the 16 that you ask for"):
        Experiment.resume(tmp_path / "run" / "last.pt", PAIRS, DEV, longer={"epochs": 2})


def test_the_command_prolongs_a_run(tmp_path, capsys):
    for name, pairs in (("train", PAIRS), ("dev", DEV)):
        (tmp_path / name).write_text("".join(f"{' '.join(src)}|||{' '.join(tgt)}\n" for src, tgt in pairs))
    files = ["--train", str(tmp_path / "train"), "--dev", str(tmp_path / "dev"), "--output", str(tmp_path / "run")]
    assert main(["train", *files, "--preset", "tiny", "--max-steps", "1"]) == 0
    assert main(["train", *files, "--resume", "--max-steps", "3"]) == 0
    assert Checkpoint.load(tmp_path / "run" / "last.pt").step == 3
    capsys.readouterr()
    assert main(["train", *files, "--resume"]) == 0
    assert "the run is finished; --max-steps N prolongs it" in capsys.readouterr().out
    for flags, message in (
        (["--max-steps", "2"], "has 3 steps already, more than the 2"),
        (["--epochs", "9"], "--epochs 9 has no effect: max_steps = 3 counts in its place"),
        (["--attention-through-time", "je mange ."], "the run is finished; --max-steps N prolongs it"),
    ):
        assert main(["train", *files, "--resume", *flags]) == 2
        printed = capsys.readouterr().err
        assert message in printed and printed.count("\n") == 1
    assert main(["train", *files, "--resume", "--max-steps", "0", "--epochs", "4"]) == 0
    assert main(["train", *files, "--resume"]) == 0
    assert "the run is finished; --epochs N or --max-steps N prolong it" in capsys.readouterr().out


def test_tensorboard_gets_the_loss_of_every_step(tmp_path, monkeypatch):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    config = replace(SMALL, epochs=2, accumulate=3)
    interrupt_at(monkeypatch, 4, epoch=1)
    with pytest.raises(KeyboardInterrupt):
        Experiment(config, PAIRS, DEV).run(tmp_path, progress=False, tensorboard=True)
    run = Experiment.resume(tmp_path / "last.pt", PAIRS, DEV)
    run.run(tmp_path, progress=False, tensorboard=True)
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [event.step for event in events.Scalars("loss")] == [1, 2, 3, 4, 5, 6]
    losses = [event.value for event in events.Scalars("loss")]
    whole_groups = sum(losses[:2]) * 3 + losses[2] * 2
    assert whole_groups / 8 == pytest.approx(run.history[0]["train_loss"], abs=1e-3)
    assert [event.step for event in events.Scalars("dev_bleu")] == [3, 6]


def test_a_pass_that_leaves_batches_out_ends_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("reference.train.train_epoch", lambda batches, *rest, **more: float(not next(batches)))
    run = Experiment(SMALL, PAIRS, DEV)
    run.run(tmp_path, progress=False)
    assert [line["epoch"] for line in run.history] == [1, 2, 3]


def test_early_stopping_by_dev_bleu(tmp_path, monkeypatch, capsys):
    scores = [0.1, 0.3, 0.2, 0.3, 0.25, 0.4, 0.1, 0.1]
    monkeypatch.setattr("given.experiment.bleu", lambda lines, references: scores[len(run.history)])
    config = replace(SMALL, epochs=8, patience=3)
    run = Experiment(config, PAIRS, DEV)
    run.run(tmp_path, progress=False)
    assert [line["dev_bleu"] for line in run.history] == scores[:5]
    assert run.is_finished and run.is_stalled and run.step == 40
    assert Checkpoint.load(tmp_path / "best.pt").epoch == 2
    run = Experiment.resume(tmp_path / "last.pt", PAIRS, DEV, longer={"patience": 0})
    assert not run.is_finished
    run.run(tmp_path, progress=False)
    assert [line["dev_bleu"] for line in run.history] == scores
    assert Checkpoint.load(tmp_path / "best.pt").epoch == 6


def test_saving_between_reports_loses_less_to_a_power_failure(tmp_path, undisturbed, monkeypatch):
    whole, _ = undisturbed(SMALL)
    fetch = BatchLoader.epoch

    def fail(self, number, start=0):
        for index, batch in enumerate(fetch(self, number, start), start=start):
            if (number, index) == (1, 7) and len(self.pairs) == len(PAIRS):
                raise MemoryError("or a power failure")
            yield batch

    monkeypatch.setattr(BatchLoader, "epoch", fail)
    with pytest.raises(MemoryError):
        Experiment(replace(SMALL, save_every=3), PAIRS, DEV).run(tmp_path / "run", progress=False)
    monkeypatch.setattr(BatchLoader, "epoch", fetch)
    assert Checkpoint.load(tmp_path / "run" / "last.pt").step == 15
    resumed = Experiment.resume(tmp_path / "run" / "last.pt", PAIRS, DEV)
    resumed.run(tmp_path / "run", progress=False)
    assert_same(resumed, whole)


def test_reports_after_several_epochs(tmp_path):
    runs = [Experiment(replace(SMALL, epochs=5, report_epochs=every), PAIRS, DEV) for every in (2, 1)]
    for run in runs:
        torch.manual_seed(1)
        run.run(tmp_path, progress=False)
    assert [line["epoch"] for line in runs[0].history] == [2, 4, 5]
    for one, other in zip(*(run.model.parameters() for run in runs), strict=True):
        assert torch.equal(one, other)
    means = [line["train_loss"] for line in runs[1].history]
    assert runs[0].history[0]["train_loss"] == pytest.approx((means[0] + means[1]) / 2, abs=1e-4)
