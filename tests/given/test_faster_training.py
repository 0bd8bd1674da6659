"""Layers that are computed faster, and lower precision: the same mathematics."""

import sys
from dataclasses import replace

import pytest
import torch
from torch import nn

from given.building import build_model
from given.config import PRESETS, ConfigError
from given.experiment import Experiment
from reference.data import Batch
from reference.train import batch_loss

from .small import PAIRS

SMALL = replace(PRESETS["tiny"], d_model=16, d_ff=24, dropout=0.0, epochs=6, batch_size=4, learning_rate=5e-3)


@pytest.mark.parametrize("norm_first", [False, True])
def test_fused_layers_give_the_same_losses_and_gradients(norm_first):
    batch = Batch.from_ids([[5, 6], [7, 8, 4]], [[5, 4, 6], [7]])
    criterion = nn.CrossEntropyLoss(ignore_index=0, label_smoothing=0.1)
    models = []
    for fused in (False, True):
        torch.manual_seed(3)
        models.append(build_model(replace(SMALL, fused=fused, norm_first=norm_first), 9, 9).double().train())
    losses = [batch_loss(model, batch, criterion) for model in models]
    assert losses[1].item() == pytest.approx(losses[0].item(), rel=1e-12)
    for loss in losses:
        loss.backward()
    for (name, one), (other_name, other) in zip(*(model.named_parameters() for model in models), strict=True):
        assert name == other_name
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-9, atol=1e-12)
    output = torch.randn(2, 3, 16, dtype=torch.float64)
    predictions = [model.eval().get_predictions(output) for model in models]
    torch.testing.assert_close(*predictions)
    assert torch.allclose(predictions[1].exp().sum(-1), torch.ones(2, 3, dtype=torch.float64))


@pytest.mark.parametrize("precision", ["float32", "fast-float32", "bf16"])
def test_every_precision_learns_and_leaves_no_trace(precision):
    before = torch.get_float32_matmul_precision()
    losses = {}
    for name in ("float32", precision):
        run = Experiment(replace(SMALL, precision=name, fused=True), PAIRS, PAIRS[:4])
        for _ in range(run.config.epochs):
            run.run_epoch(progress=False)
        losses[name] = [line["train_loss"] for line in run.history]
        assert all(parameter.dtype == torch.float32 for parameter in run.model.parameters())
    assert losses[precision] == pytest.approx(losses["float32"], rel=0.02)
    assert (losses[precision] == losses["float32"]) == (precision != "bf16") or precision == "fast-float32"
    assert torch.get_float32_matmul_precision() == before
    assert not torch.is_autocast_enabled("cpu")


@pytest.mark.parametrize("module, setting, value", [("layers", "fused", True), ("weight_average", "ema", 0.5)])
def test_a_package_without_extras_says_so(monkeypatch, module, setting, value):
    monkeypatch.setitem(sys.modules, f"given.extras.{module}", None)
    with pytest.raises(ConfigError, match=rf"{setting}: it needs given/extras/{module}.py, which only instructors"):
        Experiment(replace(SMALL, **{setting: value}), PAIRS, PAIRS[:4])
