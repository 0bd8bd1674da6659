"""How much faster the kit decodes than the plain way: one sentence at a time, the whole prefix again at each step."""

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from torch import Tensor
from tqdm import tqdm

from given.building import build_model
from given.decoding import Search, translate
from given.extras.cached_model import fits
from given.run_folder import Checkpoint
from reference.data import read_sources
from reference.decode import beam_decode, greedy_decode
from reference.model import Transformer

from .processes import median_ratio, print_table

BEAM_SIZE = 5
LENGTH_PENALTY = 0.6
ROUNDS = 3
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


PLAIN = "one sentence at a time"
BEAM = partial(beam_decode, beam_size=BEAM_SIZE, length_penalty=LENGTH_PENALTY)
WAYS: dict[tuple[int, str], Search | None] = {
    (beam_size, name): found
    for beam_size, search in ((1, greedy_decode), (BEAM_SIZE, BEAM))
    for name, found in ((PLAIN, one_at_a_time(search)), ("batched", search), ("batched, cache", None))
}
"""Each way to search, by the size of its beam and its name; None = what the kit chooses."""


def measure(checkpoint: Path, input: Path) -> int:
    """Prints sentences per CPU second for each way, its ratio to the plain one, and how many lines are equal.

    Each round runs all ways in turn; speeds and ratios are medians over the rounds. To translate the corpus, its words
    are looked up and its pieces joined: that counts, too.

    Args:
        checkpoint: of a trained model.
        input: sentences to translate.
    """
    saved = Checkpoint.load(checkpoint)
    model = build_model(saved.config, len(saved.src_vocab), len(saved.tgt_vocab))
    saved.load_weights(model, checkpoint)
    model.eval()
    sentences = read_sources(input)
    if not fits(model):
        raise AssertionError("the key/value cache does not fit the reference's own layers")

    seconds: dict[tuple[int, str], list[float]] = {way: [] for way in WAYS}
    lines: dict[tuple[int, str], list[str]] = {}
    for way in tqdm([*WAYS] * ROUNDS, unit="run", leave=False, disable=None):
        beam_size, name = way
        config = replace(saved.config, beam_size=beam_size, length_penalty=LENGTH_PENALTY, cached=True)
        repeats = 1 if name == PLAIN else REPEATS
        start = time.process_time()
        for _ in range(repeats):
            lines[way] = translate(model, sentences, saved.src_vocab, saved.tgt_vocab, config, search=WAYS[way])
        seconds[way].append((time.process_time() - start) / repeats)
    rows = []
    for (beam_size, name), found in seconds.items():
        ratio = median_ratio(seconds[beam_size, PLAIN], found)
        same = sum(a == b for a, b in zip(lines[beam_size, name], lines[beam_size, PLAIN], strict=True))
        search = "greedy" if beam_size == 1 else f"beam {beam_size}"
        rows.append(
            [
                search,
                name,
                f"{len(sentences) / median(found):.0f}",
                f"{ratio:.1f} x",
                f"{same} of {len(lines[beam_size, name])}",
            ]
        )
    print_table(["search", "way", "sentences/s", "against the first", "lines equal"], rows)
    return 0
