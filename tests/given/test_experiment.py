"""A whole run: what it learns and leaves behind; Ctrl-C, resuming to the last bit, large files."""

import functools
import signal
from dataclasses import replace
from unittest.mock import Mock

import pytest
import torch
from torch.nn.functional import nll_loss

from given.config import PRESETS
from given.decoding import forced_decode, translate
from given.experiment import Experiment, Stopped
from given.run_folder import Checkpoint, CheckpointError, Watched
from given.training import PairsOnDisk
from reference import train as training
from reference.data import BatchLoader, DataError, read_pairs, take_census
from reference.model import Transformer
from reference.vocab import PAD_ID

from .conftest import DEV, PAIRS, REFERENCE, SMALL, call


def start(folder, config=SMALL, **options):
    """Trains from the beginning to the end, and returns the run."""
    run = Experiment(REFERENCE, config, PAIRS, DEV)
    run.run(folder, progress=False, **options)
    return run


def restore(folder, train=PAIRS, dev=DEV, **longer):
    saved = Checkpoint.load(REFERENCE, folder / "last.pt")
    run = Experiment(REFERENCE, replace(saved.config, **longer), train, dev)
    run.restore(saved, folder / "last.pt")
    return run


def resume(folder, tensorboard=False, **longer):
    run = restore(folder, **longer)
    run.run(folder, progress=False, tensorboard=tensorboard)
    return run


def assert_same(run, other):
    """The same weights, to the last bit, and the same history, but for the times."""
    lines = [[{**line, "seconds": 0} for line in each.history] for each in (run, other)]
    assert lines[0] == lines[1] and run.step == other.step
    for actual, expected in zip(run.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(actual, expected)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Runs that nothing has stopped, with their folders; one of each configuration."""

    @functools.cache
    def run(config):
        folder = tmp_path_factory.mktemp("undisturbed")
        return start(folder, config), folder

    return run


@pytest.fixture
def at_batch(monkeypatch):
    """Lets something happen, once, when a batch of an epoch of the training pairs is fetched."""
    fetch, done = BatchLoader.epoch, []

    def arrange(action, batch, epoch=0):
        def epoch_of(self, number, start=0):
            for index, batch_of_epoch in enumerate(fetch(self, number, start), start=start):
                if (number, index) == (epoch, batch) and not done and len(self.pairs) == len(PAIRS):
                    done.append(index)
                    action()
                yield batch_of_epoch

        monkeypatch.setattr(BatchLoader, "epoch", epoch_of)

    return arrange


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


def test_a_run_learns_and_writes_its_folder(tmp_path, capsys):
    """In the place of an older run, once it can begin; files of one's own stay."""
    config = replace(SMALL, epochs=12, dropout=0.1)
    older = ["best.pt", "epoch-07.pt", "step-000008.pt", "tensorboard/events.out", "languages.json", "tokenizer.json"]
    (tmp_path / "tensorboard").mkdir()
    for name in (*older, "last.pt", "translations.txt"):
        (tmp_path / name).write_text("old")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr("reference.decode.greedy_decode", lambda *arguments, **options: 1 / 0)
        start(tmp_path, replace(config, cached=False))
    assert all((tmp_path / name).read_text() == "old" for name in older)
    run = start(tmp_path, config)
    files = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {"last.pt", "best.pt", "history.jsonl", "curves.png", "translations.txt"}
    assert len((tmp_path / "history.jsonl").read_text().splitlines()) == 12
    assert run.history[-1]["train_loss"] < run.history[0]["train_loss"] / 1.5
    assert capsys.readouterr().out.startswith(f"the run that was in {tmp_path} is replaced\n")


def test_a_missing_loss_is_named_before_the_first_step(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "batch_loss", Mock(side_effect=NotImplementedError("TODO 3.1")))
    monkeypatch.setattr(training, "train_epoch", Mock(side_effect=AssertionError))
    with pytest.raises(NotImplementedError, match="TODO 3.1"):
        start(tmp_path)


def test_dev_losses_are_those_of_a_model_in_eval_mode():
    run = Experiment(REFERENCE, replace(SMALL, dropout=0.5, label_smoothing=0.0), PAIRS, DEV)
    [batch] = run.dev_loader.epoch(0)
    wanted = nll_loss(forced_decode(run.model, batch)[0].mT, batch.labels, ignore_index=PAD_ID)
    run.model.train()
    assert [*run.dev_losses()] == pytest.approx([wanted.item()])


@pytest.mark.parametrize("tie_output", [False, True])
def test_both_languages_share_one_vocabulary_and_one_table(tmp_path, tie_output):
    config = replace(SMALL, share_embeddings=True, tie_output=tie_output, epochs=1)
    run = start(tmp_path, config)
    assert run.src_vocab.tokens == run.tgt_vocab.tokens
    resumed = resume(tmp_path, epochs=2)
    for model in (run.model, resumed.model):
        table = model.tgt_embedding.table.weight
        assert model.src_embedding.table.weight is table
        assert (model.output_projection.weight is table) == tie_output


@pytest.mark.parametrize(
    "settings, batch",
    [
        ({"accumulate": 3, "schedule": "cosine", "warmup_steps": 4, "max_grad_norm": 0.5, "bucketing": True}, 7),
        ({"report_every": 3, "diagonal_width": 1, "diagonal_random": 0.3}, 3),
    ],
)
def test_a_run_that_is_stopped_within_an_epoch_resumes_bit_for_bit(tmp_path, undisturbed, at_batch, settings, batch):
    config = replace(SMALL, **settings)
    whole, folder = undisturbed(config)
    before = signal.getsignal(signal.SIGINT)
    at_batch(press_ctrl_c, batch)
    with pytest.raises(Stopped) as stop:
        start(tmp_path, config)
    assert "goes on" in stop.value._render_traceback_()[0]  # by IPython
    assert signal.getsignal(signal.SIGINT) == before
    assert 0 < Checkpoint.load(REFERENCE, tmp_path / "last.pt").step < whole.step
    torch.manual_seed(999)
    assert_same(resume(tmp_path), whole)
    assert Checkpoint.load(REFERENCE, tmp_path / "best.pt").step == Checkpoint.load(REFERENCE, folder / "best.pt").step


def test_steps_and_reports(tmp_path, undisturbed):
    """Reports within an epoch, or after several, change nothing but the history."""
    run = start(tmp_path / "steps", replace(SMALL, max_steps=11, report_every=4), keep_epochs=True)
    assert [(line["step"], line["epoch"]) for line in run.history] == [(4, 0.5), (8, 1), (11, 1.375)]
    names = {path.name for path in (tmp_path / "steps").glob("[es]*-*.pt")}
    assert names == {"step-000004.pt", "step-000008.pt", "step-000011.pt"}
    each, _ = undisturbed(SMALL)
    for settings, epochs in (({"report_every": 3}, 8), ({"report_epochs": 2}, 2)):
        run = start(tmp_path / "again", replace(SMALL, **settings))
        assert len(run.history) == epochs and run.history[-1]["dev_loss"] == each.history[-1]["dev_loss"]
        for ours, theirs in zip(run.model.parameters(), each.model.parameters(), strict=True):
            assert torch.equal(ours, theirs)
    means = [line["train_loss"] for line in each.history]
    assert run.history[0]["train_loss"] == pytest.approx((means[0] + means[1]) / 2, abs=1e-4)


def test_a_finished_run_is_prolonged(tmp_path, undisturbed):
    """With the same pairs alone; that it records attention changes nothing."""
    run = Experiment(REFERENCE, replace(SMALL, epochs=2), PAIRS, DEV)
    run.watched = Watched(["il", "dors", "."], ["he", "sleep", "."])
    run.run(tmp_path, progress=False)
    for train, dev, flag in ((PAIRS * 2, DEV, "train"), (PAIRS, PAIRS, "dev")):
        with pytest.raises(CheckpointError, match=f"last.pt: was trained with other pairs for --{flag}"):
            restore(tmp_path, train, dev)
    assert_same(resume(tmp_path, epochs=3), undisturbed(SMALL)[0])
    recorded = Watched(**Checkpoint.load(REFERENCE, tmp_path / "last.pt").watched)
    assert (recorded.epochs, recorded.target) == ([0, 1, 2, 3], ["he", "sleep", "."])
    for look in recorded.weights:
        shapes = {kind: tuple(weights.shape) for kind, weights in look.items()}
        assert shapes == {"encoder": (1, 4, 3, 3), "decoder": (1, 4, 4, 4), "cross": (1, 4, 4, 3)}
    assert not torch.equal(recorded.weights[0]["cross"], recorded.weights[1]["cross"])


def test_saving_between_reports_loses_less_to_a_power_failure(tmp_path, undisturbed, at_batch):
    at_batch(lambda: 1 / 0, 7, epoch=1)
    with pytest.raises(ZeroDivisionError):
        start(tmp_path, replace(SMALL, save_every=3))
    assert Checkpoint.load(REFERENCE, tmp_path / "last.pt").step == 15
    assert_same(resume(tmp_path), undisturbed(SMALL)[0])


def test_tensorboard_gets_the_loss_of_every_step_and_each_report(tmp_path, at_batch):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    at_batch(press_ctrl_c, 4, epoch=1)
    with pytest.raises(KeyboardInterrupt):
        start(tmp_path, replace(SMALL, epochs=2, accumulate=3), tensorboard=True)
    run = resume(tmp_path, tensorboard=True)
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [event.step for event in events.Scalars("loss")] == [1, 2, 3, 4, 5, 6]
    losses = [event.value for event in events.Scalars("loss")]
    assert (sum(losses[:2]) * 3 + losses[2] * 2) / 8 == pytest.approx(run.history[0]["train_loss"], abs=1e-3)
    for name in ("train_loss", "dev_loss", "dev_bleu"):
        assert [event.value for event in events.Scalars(name)] == pytest.approx([line[name] for line in run.history])


def test_one_diagonal_mask_is_drawn_and_serves_in_training_and_decoding(tmp_path, monkeypatch):
    masks, encode = [], Transformer.encode
    monkeypatch.setattr(Transformer, "encode", lambda model, src, mask: masks.append(mask) or encode(model, src, mask))
    run = start(tmp_path, replace(SMALL, epochs=1, diagonal_width=2, diagonal_random=0.5, cached=False))
    saved = Checkpoint.load(REFERENCE, tmp_path / "last.pt")
    n_trained = len(masks)
    translate(run.model, [source for source, _ in DEV], saved)
    assert len(masks) > n_trained >= 8 and torch.equal(saved.diagonal, run.diagonal)
    for mask in masks:
        assert torch.equal(mask.any(0)[0], run.diagonal[: mask.size(-1), : mask.size(-1)])


@pytest.mark.slow
@pytest.mark.nightly
def test_the_default_size_passes_the_advanced_threshold(assignment):
    """A model of the default size with the preset `fast`, after three epochs."""
    config, course = PRESETS["fast"], PRESETS["course"]
    assert (config.d_model, config.d_ff, config.n_layers) == (course.d_model, course.d_ff, course.n_layers)
    config = replace(config, epochs=3, report_epochs=3)
    run = Experiment(REFERENCE, config, *(read_pairs(f"data/corpus/fren.{split}.bpe") for split in ("train", "dev")))
    while not run.is_finished:
        run.run_epoch(progress=False)
    assert run.history[-1]["dev_bleu"] >= assignment.thresholds["advanced"]


class Trap:
    def __reduce__(self):
        return print, ("the checkpoint ran code",)


def test_what_is_no_checkpoint_is_refused_and_not_run(tmp_path, capsys):
    path = tmp_path / "c.pt"
    path.write_bytes(b"PK")
    for content in (None, {"weights": {}}, {"weights": Trap()}):
        if content:
            torch.save(content, path)
        with pytest.raises(CheckpointError, match="c.pt: is cut off, or not a checkpoint that `train` of this version"):
            Checkpoint.load(REFERENCE, path)
    assert "ran code" not in capsys.readouterr().out


def test_a_run_is_the_same_from_the_disk_and_resumes_within_an_epoch(tmp_path, monkeypatch, capsys):
    """From a large file as from memory, to the last bit; also from the one to the other."""
    path = tmp_path / "train"
    path.write_text("".join(f"{'a ' * (n % 7)}b{n % 5} c|||x {'y ' * (n % 5)}é{n % 3}\n" for n in range(50)).rstrip())
    for most_tokens in (None, 7):
        pairs, on_disk = read_pairs(path, most_tokens), PairsOnDisk(REFERENCE, path, most_tokens)
        assert list(on_disk) == pairs and take_census(on_disk) == take_census(pairs)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == lines[1] and lines[0].endswith("left out 7 of 50 pairs, with more than 7 tokens on a side")

    def train(output, large, *more):
        monkeypatch.setattr("given.training.LARGE", 0 if large else 10**6)
        call("train", "--train", path, "--dev", path, "--output", tmp_path / output, *more)
        return Checkpoint.load(REFERENCE, tmp_path / output / "last.pt").weights

    flags = ["--preset", "tiny", "--batch-size", "4", "--bucketing", "--max-steps"]
    whole = train("memory", False, *flags, "20")
    train("short", True, *flags, "7")
    resumed = train("short", False, "--resume", "--max-steps", "20")
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    path.write_bytes(b"a|||b\nc\n")
    with pytest.raises(DataError, match=":2: expected `source"):
        PairsOnDisk(REFERENCE, path)
