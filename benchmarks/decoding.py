"""How much faster the kit decodes than the plain way: one sentence at a time, all of the prefix again at each step."""

import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from reference.cached_decode import cached_greedy_decode
from reference.checkpoint import Checkpoint
from reference.data import read_lines
from reference.decode import greedy_decode
from reference.experiment import build_model
from reference.masks import causal_mask
from reference.translate import translate


@torch.no_grad()
def plain_decode(
    model: nn.Module,
    src: Tensor,
    src_mask: Tensor,
    encoder_mask: Tensor,
    *,
    bos_id: int,
    eos_id: int,
    pad_id: int,
    max_length: int,
) -> list[list[int]]:
    """The way of the original course; same arguments and result as `greedy_decode`."""
    found = []
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


def measure(checkpoint: Path, corpus: Path, repeats: int = 3) -> int:
    """Prints sentences a CPU second of each way, and the ratio to the plain one; checks that all agree."""
    saved = Checkpoint.load(checkpoint)
    model = build_model(saved.config, len(saved.src_vocab), len(saved.tgt_vocab))
    saved.load_weights(model, checkpoint)
    model.eval()
    sentences = [line.split("|||")[0].split() for line in read_lines(corpus)]

    def run(search: Callable) -> tuple[float, list[str]]:
        start = time.process_time()
        lines = translate(
            model,
            sentences,
            saved.src_vocab,
            saved.tgt_vocab,
            saved.config,
            search=search,
            progress=search is plain_decode,
        )
        return len(sentences) / (time.process_time() - start), lines

    plain_speed, plain_lines = run(plain_decode)
    print(f"{'plain, one sentence at a time':<32}{plain_speed:8.0f} sentences/s     1.0 x")
    for name, search in (("batched", greedy_decode), ("batched, key/value cache", cached_greedy_decode)):
        results = [run(search) for _ in range(repeats)]
        speed = sorted(speed for speed, _ in results)[repeats // 2]
        same = sum(a == b for a, b in zip(results[0][1], plain_lines, strict=True))
        print(
            f"{name:<32}{speed:8.0f} sentences/s {speed / plain_speed:7.1f} x    {same} of {len(sentences)} lines equal"
        )
    return 0
