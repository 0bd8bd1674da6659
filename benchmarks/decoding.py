"""How much faster the kit decodes than the plain way: one sentence at a time, the whole prefix again at each step."""

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from given.building import build_model
from given.config import PRESETS
from given.decoding import Search, find_cached_search, translate
from given.experiment import Experiment
from given.run_folder import Checkpoint
from reference.data import read_pairs, read_sources, take_census
from reference.decode import beam_decode, greedy_decode
from reference.masks import causal_mask
from reference.model import Transformer

BEAM_SIZE = 5
LENGTH_PENALTY = 0.6
REPEATS = 3  # of the fast ways in each round


def one_at_a_time(search: Search) -> Search:
    """The search, with one sentence a time and without its padding."""

    def found(
        model: Transformer, src: Tensor, src_mask: Tensor, encoder_mask: Tensor | None = None, **options: Any
    ) -> list[list[int]]:
        encoder_mask = src_mask if encoder_mask is None else encoder_mask
        lines = []
        for row in range(src.size(0)):
            length = int((src[row] != options["pad_id"]).sum())
            one, masks = slice(row, row + 1), [mask[row : row + 1, ..., :length] for mask in (src_mask, encoder_mask)]
            lines += search(model, src[one, :length], *masks, **options)
        return lines

    return found


@torch.no_grad()
def decode_by_prefix(
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
    """Decodes one sentence as the original course does; arguments and result of `greedy_decode`."""
    memory, _ = model.encode(src, encoder_mask)
    ids = [bos_id]
    while len(ids) <= max_length:
        output, _, _ = model.decode(torch.tensor([ids]), memory, src_mask, causal_mask(len(ids)))
        token = int(model.get_predictions(output)[0, -1].argmax())
        if token == eos_id:
            break
        ids.append(token)
    return [ids[1:]]


PLAIN = "one sentence at a time"
# For each kind of search its size of the beam and the ways to do it, the plain one first; None = what the kit chooses.
BEAM = partial(beam_decode, beam_size=BEAM_SIZE, length_penalty=LENGTH_PENALTY)
WAYS: dict[str, tuple[int, dict[str, Search | None]]] = {
    "greedy": (1, {PLAIN: one_at_a_time(decode_by_prefix), "batched": greedy_decode, "batched, cache": None}),
    f"beam {BEAM_SIZE}": (BEAM_SIZE, {PLAIN: one_at_a_time(BEAM), "batched": BEAM, "batched, cache": None}),
}


def trained_model(train: Path, dev: Path, folder: Path = Path("runs/bench"), epochs: int = 3) -> Path:
    """Returns a checkpoint of the preset `course`, trained for a few epochs unless it is there already."""
    path, train_pairs = folder / "last.pt", read_pairs(train)
    if path.is_file():
        saved = Checkpoint.load(path)
        if saved.epoch >= epochs and (saved.corpus or {}).get("train") == take_census(train_pairs).fingerprint:
            return path
    print(f"training a model for {epochs} epochs first, in {folder} (once)", flush=True)
    Experiment(replace(PRESETS["course"], epochs=epochs), train_pairs, read_pairs(dev)).run(folder)
    return path


def measure(checkpoint: Path | None, train: Path, corpus: Path, rounds: int = 3) -> int:
    """Prints sentences per CPU second for each way and its ratio to the plain one, and whether all agree.

    Each round runs all ways in turn, so that each meets the same neighbours on a shared machine; speeds and ratios are
    medians over the rounds. To translate the corpus, its words are looked up and its pieces joined: that counts, too.

    Args:
        checkpoint: None = one that is trained first.
        train: pairs to train it on.
        corpus: sentences to translate.
        rounds: repetitions.
    """
    checkpoint = checkpoint or trained_model(train, corpus)
    saved = Checkpoint.load(checkpoint)
    model = build_model(saved.config, len(saved.src_vocab), len(saved.tgt_vocab))
    saved.load_weights(model, checkpoint)
    model.eval()
    sentences = read_sources(corpus)

    if find_cached_search(model, 1, LENGTH_PENALTY) is None:
        raise AssertionError("the key/value cache does not fit the reference's own layers")

    def run(kind: str, name: str) -> tuple[float, list[str]]:
        beam_size, named = WAYS[kind]
        config = replace(saved.config, beam_size=beam_size, length_penalty=LENGTH_PENALTY, cached=True)
        repeats = 1 if name == PLAIN else REPEATS
        start = time.process_time()
        for _ in range(repeats):
            lines = translate(model, sentences, saved.src_vocab, saved.tgt_vocab, config, search=named[name])
        return (time.process_time() - start) / repeats, lines

    seconds: dict[tuple[str, str], list[float]] = {
        (kind, name): [] for kind, (_, named) in WAYS.items() for name in named
    }
    lines: dict[tuple[str, str], list[str]] = {}
    with tqdm(total=rounds * len(seconds), unit="run", leave=False, disable=None) as bar:
        for _ in range(rounds):
            for way, found in seconds.items():
                second, lines[way] = run(*way)
                found.append(second)
                bar.update()
    for (kind, name), found in seconds.items():
        ratio = median(plain / one for plain, one in zip(seconds[kind, PLAIN], found, strict=True))
        same = sum(a == b for a, b in zip(lines[kind, name], lines[kind, PLAIN], strict=True))
        speed = f"{len(sentences) / median(found):8.0f} sentences/s {ratio:7.1f} x"
        print(f"{f'{kind}, {name}':<32}{speed}    {same} of {len(sentences)} lines equal")
    return 0
