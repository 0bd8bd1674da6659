"""Small arguments by the names of parameters, with which the release calls every function that has a TODO.

The gate "every TODO raises" loads this file by itself: it imports torch and nothing of the kit.
"""

import types
from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def sample_arguments() -> list[dict[str, Any]]:
    """One set for each way to call: post-norm and pre-norm. 2 sentences of 3 tokens, 8 features, 2 heads."""
    x = torch.rand(2, 3, 8)
    tokens = torch.ones(2, 3, dtype=torch.int64)
    mask = torch.ones(3, 3, dtype=torch.bool)
    per_head = torch.rand(2, 2, 3, 4)
    batch = types.SimpleNamespace(
        src=tokens, src_mask=mask, encoder_mask=mask, tgt_input=tokens, tgt_mask=mask, labels=tokens
    )
    sizes = {"d_model": 8, "n_heads": 2, "d_ff": 16, "n_layers": 1, "dropout": 0.0, "epsilon": 1e-6}
    sizes |= dict.fromkeys(("vocab_size", "src_vocab_size", "tgt_vocab_size"), 5)
    inputs = dict.fromkeys(("query", "key", "value"), per_head)
    inputs |= dict.fromkeys(("x", "memory", "output"), x) | dict.fromkeys(("tokens", "src", "tgt"), tokens)
    inputs |= dict.fromkeys(("mask", "src_mask", "tgt_mask", "encoder_mask"), mask)
    masks = {"length": 3, "width": 1, "random_prob": 0.0, "generator": None}
    training = {"batches": [batch], "batch": batch, "model": Anything(), "optimizer": Anything()}
    step = {"criterion": nn.CrossEntropyLoss(), "accumulate": 1, "scheduler": None, "max_grad_norm": None}
    decoding = {"bos_id": 1, "eos_id": 2, "pad_id": 0, "max_length": 3, "beam_size": 2, "length_penalty": 0.6}
    samples: dict[str, Any] = {**sizes, **inputs, **masks, **training, **step, **decoding}
    return [{**samples, "norm_first": norm_first} for norm_first in (False, True)]


class Anything:
    """Answers every method with nothing: in the place of a model or an optimizer."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Any method."""
        return lambda *arguments, **options: None
