"""Translates with a submitted checkpoint. Becomes a module of the submission, in the sandbox: this process never does.

What was handed out loads the checkpoint, with `weights_only=True`, builds the student's model and decodes: only so do
the lines come out as the student's own command gave them, with its settings and its beam search. That takes a worker of
its own, with the whole package and more time than grading allows. `learned_model.py` needs none of it: it asks one more
thing of the worker that has just been graded, which has the graded modules alone, within what is left of its budgets.
"""

import io
from importlib import import_module
from typing import Any

import torch.utils.serialization  # noqa: F401  torch.load imports it when it runs: too late in the sandbox
from torch import Tensor


def part(name: str) -> Any:
    """A module of the package that this one has become part of."""
    return import_module(f".{name}", __package__)


def translate_again(content: Tensor, lines: list[str], beam_size: int) -> list[str]:
    """The translations of some lines.

    Args:
        content: the bytes of the checkpoint.
        lines: tokenized sources.
        beam_size: 1 = greedy; 0 = as the checkpoint says.

    Returns:
        As many lines, without byte-pair marks.
    """
    saved = part("running.checkpoint").Checkpoint.load(io.BytesIO(content.numpy().tobytes()))
    model = part("running.building").build_model(saved.config, len(saved.src_vocab), len(saved.tgt_vocab))
    saved.load_weights(model, "the checkpoint")
    config = saved.config
    if beam_size:
        config = type(config).from_dict({**config.to_dict(), "beam_size": beam_size})
    sentences = [line.split() for line in lines]
    translate = part("translation.translate").translate
    found: list[str] = translate(
        model.eval(), sentences, saved.src_vocab, saved.tgt_vocab, config, diagonal=saved.diagonal
    )
    return found
