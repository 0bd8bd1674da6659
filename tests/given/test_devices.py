"""With `--device`, a GPU computes what the CPU does: losses and translations. Skipped where there is none."""

import json

import pytest
import torch

from reference.__main__ import main

from .small import DEV, corpus_flags

SIZES = {"--d-model": "16", "--d-ff": "16", "--dropout": "0", "--epochs": "12", "--learning-rate": "5e-3"}
FLAGS = ["--preset", "tiny", "--batch-size", "4", *(word for pair in SIZES.items() for word in pair)]
WAYS = {
    "as it is": [],
    "pre-norm, with the average": ["--norm-first", "--ema", "0.5", "--beam-size", "3"],
    "faster layers": ["--norm-first", "--fused"],
    "without the cache": ["--no-cached", "--diagonal-width", "2"],
}


GPUS = {"cuda": torch.cuda.is_available, "mps": torch.mps.is_available}
RUNS = [("cpu", "without the cache")]  # a run is the same run again
RUNS += [
    pytest.param(device, way, marks=pytest.mark.skipif(not is_there(), reason=f"no {device}"))
    for device, is_there in GPUS.items()
    for way in WAYS
]


@pytest.mark.parametrize("device, way", RUNS)
def test_a_device_computes_the_same(tmp_path, device, way):
    sources = tmp_path / "sources"
    sources.write_text("".join(" ".join(source) + "\n" for source, _ in DEV))
    losses, texts = [], []
    for used in ("cpu", device):
        folder = tmp_path / f"on {used}"
        folder.mkdir(exist_ok=True)
        assert main(["train", *corpus_flags(folder), *FLAGS, *WAYS[way], "--device", used]) == 0
        history = map(json.loads, (folder / "run" / "history.jsonl").read_text().splitlines())
        losses.append([line[name] for line in history for name in ("train_loss", "dev_loss")])
        files = ["--checkpoint", str(folder / "run" / "last.pt"), "--input", str(sources)]
        assert main(["translate", *files, "--output", str(folder / "out"), "--device", used]) == 0
        texts.append((folder / "out").read_text())
    assert losses[1] == pytest.approx(losses[0], abs=2e-3) and losses[0][-1] < losses[0][1]
    assert texts[1] == texts[0] and len(set(texts[0].splitlines())) > 1
