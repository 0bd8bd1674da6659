"""Settings: presets and flags, and what is made of them: a fresh model, its optimizer, the device."""

import argparse
import json
from dataclasses import asdict, fields, replace

import pytest
import torch
from torch import nn

from given.command_line import choose_device
from given.config import PRESETS, SETTINGS, Config, add_config_flags, config_from_flags
from given.package import Setup, embedding_tables, make_optimizer
from given.run_folder import Checkpoint
from reference.model import Transformer

from ..conftest import examples_in
from .conftest import REFERENCE, call, corpus_flags

EXPECTED = examples_in("given/presets.toml")
SMALL = replace(PRESETS["tiny"], d_model=16, d_ff=24, dropout=0.0)


def build_model(**settings):
    """A fresh model for 99 tokens of each language."""
    vocab = REFERENCE.vocab.Vocabulary(map(str, range(95)))
    return Setup(REFERENCE, replace(SMALL, **settings), vocab, vocab, None).build_model()


@pytest.mark.parametrize("name", EXPECTED)
def test_presets_are_those_of_their_projects(name):
    assert EXPECTED[name].items() <= asdict(PRESETS[name]).items()


LARGE = [pytest.param(name, marks=pytest.mark.slow) for name in ("opus-books-en-it", "course-best")]


@pytest.mark.parametrize("name", ["wmt14-de-en", *LARGE])
def test_presets_train_through_the_real_loading_code(tmp_path, name, capsys):
    files = corpus_flags(tmp_path)
    with (tmp_path / "train").open("a") as file:
        file.write("a " * 600 + "|||b\n")
    sizes = ["--d-model", 16, "--d-ff", 16, "--max-steps", 2, "--max-length", 5, "--most-tokens", 100]
    call("train", *files, "--preset", name, *sizes, "--batch-size", 4, "--min-count", 1)
    printed = capsys.readouterr().out
    assert "train: left out 1 of 16 pairs, with more than 100 tokens on a side\n" in printed
    assert "15 training and 4 dev pairs of up to 4 and 4 tokens, " in printed
    saved = Checkpoint.load(REFERENCE, tmp_path / "run" / "last.pt")
    assert (saved.step, saved.config.n_layers) == (2, PRESETS[name].n_layers)


def test_every_setting_has_a_flag_which_changes_the_preset():
    parser = argparse.ArgumentParser()
    add_config_flags(parser)
    flags = {action.dest for action in parser._actions} - {"help", "preset", "device", "threads"}
    assert flags == {item.name for item in fields(Config)} == SETTINGS.keys()
    options = parser.parse_args(["--preset", "fast", "--d-model", "64", "--no-norm-first"])
    assert config_from_flags(parser.parse_args([])) == PRESETS["course"]
    assert config_from_flags(options) == replace(PRESETS["fast"], d_model=64, norm_first=False)


def test_initialisation_and_tying_need_no_layout(monkeypatch):
    class Unusual(Transformer):
        """Makes the target's part first, under another name, and has parameters of unusual shapes."""

        def __init__(self, *settings):
            super().__init__(*settings)
            source, target = self.src_embedding, self.tgt_embedding
            del self.src_embedding, self.tgt_embedding
            self.reader, self.tgt_embedding = nn.Sequential(source), nn.Sequential(target)
            self.gain = nn.Parameter(torch.ones(1, SMALL.d_model))

    monkeypatch.setattr("reference.model.Transformer", Unusual)
    model = build_model(tie_output=True, initialisation="xavier")
    assert model.output_projection.weight is model.tgt_embedding[0].table.weight
    assert torch.equal(model.gain, torch.ones(1, SMALL.d_model))
    for table in embedding_tables(REFERENCE, model):
        assert table.std().item() == pytest.approx(SMALL.d_model**-0.5, rel=0.2)


@pytest.mark.parametrize(
    "initialisation, variance", [("pytorch", 1 / (3 * 64)), ("xavier", 2 / (64 + 192)), ("kaiming", 2 / 64)]
)
def test_matrices_have_the_variance_of_their_initialisation(initialisation, variance):
    model = build_model(d_model=64, d_ff=192, initialisation=initialisation)
    weight = model.encoder.layers[0].feed_forward.expand.weight  # 64 -> 192
    assert weight.var().item() == pytest.approx(variance, rel=0.1)
    for table in embedding_tables(REFERENCE, model):
        assert table.var().item() == pytest.approx(1 / 64, rel=0.1)


def test_inner_dropout_drops_inside_and_changes_nothing_else():
    torch.manual_seed(1)
    plain, model = build_model(), build_model(inner_dropout=0.5)
    model.load_state_dict(plain.state_dict())
    src, tgt = torch.randint(4, 9, (2, 5)), torch.randint(4, 9, (2, 4))
    torch.testing.assert_close(model.eval()(src, tgt), plain.eval()(src, tgt))
    x, layer = torch.randn(1, 250, 16), model.encoder.layers[0]
    for part in (layer.feed_forward, lambda x: layer.attention(x, x, x)[0]):
        layer.train()
        many = torch.stack([part(x) for _ in range(30)])
        assert many.var(0).mean() > 0, "it varies"
        layer.eval()
        torch.testing.assert_close(many.mean((0, 2)), part(x).mean(1), atol=0.05, rtol=0.05)
    weights = layer.train().attention(x, x, x)[1]
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 4, 250)), "the weights that come back are complete"


def test_weight_decay_shrinks_matrices_and_leaves_biases():
    model = build_model()
    optimizer = make_optimizer(replace(SMALL, weight_decay=0.5, learning_rate=0.1), model)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    for old, new in zip(before, model.parameters(), strict=True):
        torch.testing.assert_close(new.data, old * (1 - 0.1 * 0.5) if old.dim() > 1 else old)


def test_adam_takes_its_epsilon():
    model = nn.Linear(1, 1, bias=False)
    optimizer = make_optimizer(replace(SMALL, adam_epsilon=0.01, learning_rate=1.0), model)
    before, gradient = model.weight.item(), 1e-3
    model.weight.grad = torch.full((1, 1), gradient)
    optimizer.step()
    assert before - model.weight.item() == pytest.approx(gradient / (gradient + 0.01), rel=1e-3)


@pytest.mark.parametrize("available, chosen", [(["cuda", "mps"], "cuda"), (["mps"], "mps"), ([], "cpu")])
def test_auto_chooses_the_fastest_device(monkeypatch, available, chosen):
    for kind in ("cuda", "mps"):
        monkeypatch.setattr(getattr(torch, kind), "is_available", lambda kind=kind: kind in available)
    assert choose_device("auto") == chosen


@pytest.mark.skipif(choose_device("auto") == "cpu", reason="no other device")
def test_a_device_computes_what_the_cpu_does(tmp_path):
    sizes = ["--d-model", 16, "--d-ff", 16, "--dropout", 0, "--epochs", 12, "--learning-rate", 5e-3]
    losses, texts = [], []
    for used in ("cpu", "auto"):
        folder = tmp_path / used
        folder.mkdir()
        call("train", *corpus_flags(folder), "--preset", "tiny", "--batch-size", 4, *sizes, "--device", used)
        history = map(json.loads, (folder / "run" / "history.jsonl").read_text().splitlines())
        losses.append([line[name] for line in history for name in ("train_loss", "dev_loss")])
        files = ["--checkpoint", folder / "run/last.pt", "--input", folder / "dev", "--output", folder / "out"]
        call("translate", *files, "--device", used)
        texts.append((folder / "out").read_text())
    assert losses[1] == pytest.approx(losses[0], abs=2e-3) and texts[1] == texts[0]
