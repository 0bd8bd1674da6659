"""How much faster the kit decodes than the plain way: one sentence at a time, the whole prefix again at each step."""

import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch
from torch import Tensor
from tqdm import tqdm

from reference.data import read_pairs, read_sources
from reference.decode import greedy_decode
from reference.masks import causal_mask
from reference.model import Transformer
from reference.running.building import build_model
from reference.running.checkpoint import Checkpoint
from reference.running.config import PRESETS
from reference.running.experiment import Experiment
from reference.translation.cached_greedy import cached_greedy_decode
from reference.translation.translate import Search, translate


@torch.no_grad()
def plain_decode(
    model: Transformer,
    src: Tensor,
    src_mask: Tensor,
    encoder_mask: Tensor | None = None,
    *,
    bos_id: int,
    eos_id: int,
    pad_id: int,
    max_length: int,
) -> list[list[int]]:
    """Decodes like the original course; same arguments and result as `greedy_decode`."""
    found = []
    encoder_mask = src_mask if encoder_mask is None else encoder_mask
    for row in range(src.size(0)):
        length = int((src[row] != pad_id).sum())
        one = slice(row, row + 1)
        memory, _ = model.encode(src[one, :length], encoder_mask[one, ..., :length])
        ids = [bos_id]
        while len(ids) <= max_length:
            output, _, _ = model.decode(torch.tensor([ids]), memory, src_mask[one, ..., :length], causal_mask(len(ids)))
            token = int(model.get_predictions(output)[0, -1].argmax())
            if token == eos_id:
                break
            ids.append(token)
        found.append(ids[1:])
    return found


WAYS: dict[str, Search] = {
    "plain, one sentence at a time": plain_decode,
    "batched": greedy_decode,
    "batched, key/value cache": cached_greedy_decode,
}


def trained_model(folder: Path = Path("runs/bench"), epochs: int = 3) -> Path:
    """Returns a checkpoint of the preset `course`, trained for a few epochs unless it is there already."""
    path = folder / "last.pt"
    if not path.is_file() or Checkpoint.load(path).epoch < epochs:
        print(f"training a model for {epochs} epochs first, in {folder} (once)", flush=True)
        train, dev = (read_pairs(f"data/corpus/fren.{split}.bpe") for split in ("train", "dev"))
        Experiment(replace(PRESETS["course"], epochs=epochs), train, dev).run(folder)
    return path


def measure(checkpoint: Path | None, corpus: Path, rounds: int = 3) -> int:
    """Prints sentences per CPU second for each way and its ratio to the plain one, and whether all agree.

    Each round runs all ways in turn, so that each meets the same neighbours on a shared machine; speeds and ratios are
    medians over the rounds.

    Args:
        checkpoint: None = one that is trained first.
        corpus: sentences to translate.
        rounds: repetitions.
    """
    checkpoint = checkpoint or trained_model()
    saved = Checkpoint.load(checkpoint)
    model = build_model(saved.config, len(saved.src_vocab), len(saved.tgt_vocab))
    saved.load_weights(model, checkpoint)
    model.eval()
    sentences = read_sources(corpus)

    def run(search: Search, repeats: int) -> tuple[float, list[str]]:
        start = time.process_time()
        for _ in range(repeats):
            lines = translate(model, sentences, saved.src_vocab, saved.tgt_vocab, saved.config, search=search)
        return repeats * len(sentences) / (time.process_time() - start), lines

    speeds: dict[str, list[float]] = {name: [] for name in WAYS}
    lines: dict[str, list[str]] = {}
    with tqdm(total=rounds * len(WAYS), unit="run", leave=False, disable=None) as bar:
        for _ in range(rounds):
            for name, search in WAYS.items():
                speed, lines[name] = run(search, 1 if search is plain_decode else 5)
                speeds[name].append(speed)
                bar.update()
    plain, *_ = WAYS
    for name, found in speeds.items():
        ratio = median(one / other for one, other in zip(found, speeds[plain], strict=True))
        same = sum(a == b for a, b in zip(lines[name], lines[plain], strict=True))
        print(f"{name:<32}{median(found):8.0f} sentences/s {ratio:7.1f} x    {same} of {len(sentences)} lines equal")
    return 0
