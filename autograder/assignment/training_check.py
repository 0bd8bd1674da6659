"""Does the whole submission learn? A short training run with all components the student's own, in the worker.

Component tests judge each part among stand-ins. Here a tiny model has to learn to reverse sequences, with the
submission's own `train_epoch`, and is then asked to translate new ones token by token. That needs all parts at once:
positions, masks, attention to the source, and gradients that reach everything. No points depend on it.

Shapes: b batch · s source length · t target length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.testing.case import Case
from autograder.testing.under_test import SubmissionUnderTest

PAD, BOS, EOS, FIRST_WORD, VOCABULARY = 0, 1, 2, 3, 11
SHORTEST, LONGEST = 2, 5
SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "d_ff": 64, "n_layers": 2, "dropout": 0.0}
RATE, BATCH, BATCHES, EPOCHS = 2e-3, 64, 15, 16
TEST = 100
ENOUGH = 0.7
"""The share of new sequences that must be reversed without a mistake: see `docs/explanation/diagnosis.md`."""


def explain(losses: Sequence[float], accuracy: float) -> str:
    """What a student reads whose submission does not learn."""
    text = f"trained on sequences of {SHORTEST} to {LONGEST} tokens, it reverses {accuracy:.0%} of new ones correctly"
    return f"{text} (expected: {ENOUGH:.0%}); its loss went from {losses[0]:.2f} to {losses[-1]:.2f}"


def train_and_test(submission: SubmissionUnderTest, case: Case, losses: list[float]) -> float:
    """Trains a small model, and returns the share of new sequences that it reverses without a mistake.

    Args:
        submission: whose components are used, all of them its own.
        case: draws the data and the initial values of the parameters.
        losses: takes the mean loss of each epoch.
    """
    model: Any = submission.build("model.Transformer", VOCABULARY, VOCABULARY, **SIZES, isolated=False)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.squeeze().dim() > 1:  # matrices; gains and shifts are as they are made
                parameter.copy_(case.normal(*parameter.shape, scale=SIZES["d_model"] ** -0.5))
    optimizer = submission.stand_in("adam", model, RATE)
    criterion = submission.stand_in("cross_entropy", PAD, 0.0)
    for _ in range(EPOCHS):
        batches = [submission.stand_in("Batch", **make_batch(*draw(case, BATCH))) for _ in range(BATCHES)]
        loss = submission.call("train.train_epoch", batches, model, optimizer, criterion, isolated=False)
        losses.append(float(loss))
    src, tgt = draw(case, TEST)
    return float((translate(model.eval(), src) == tgt[:, 1:]).all(dim=1).double().mean())


def draw(case: Case, count: int) -> tuple[Tensor, Tensor]:
    """Sequences (b, s) and their reverses with bos and eos (b, s + 2), padded."""
    src = torch.full((count, LONGEST), PAD)
    tgt = torch.full((count, LONGEST + 2), PAD)
    for row in range(count):
        length = case.size(SHORTEST, LONGEST)
        words = case.tokens(VOCABULARY, length, low=FIRST_WORD)
        src[row, :length] = words
        tgt[row, : length + 2] = torch.cat([torch.tensor([BOS]), words.flip(0), torch.tensor([EOS])])
    return src, tgt


def make_batch(src: Tensor, tgt: Tensor) -> dict[str, Tensor]:
    """The tensors of the contract's `Batch`."""
    src_mask, t = (src != PAD)[:, None, None, :], tgt.size(1) - 1
    tgt_mask = (tgt[:, None, None, :-1] != PAD) & torch.ones(t, t, dtype=torch.bool).tril()
    return {
        "src": src,
        "src_mask": src_mask,
        "encoder_mask": src_mask,
        "tgt_input": tgt[:, :-1],
        "tgt_mask": tgt_mask,
        "labels": tgt[:, 1:],
    }


@torch.no_grad()
def translate(model: Any, src: Tensor) -> Tensor:
    """The most probable tokens, one after the other, (b, LONGEST + 1); padding after eos."""
    src_mask = (src != PAD)[:, None, None, :]
    memory, _ = model.encode(src, src_mask)
    said = torch.full((src.size(0), 1), BOS)
    for length in range(1, LONGEST + 2):
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        output = model.decode(said, memory, src_mask, mask)[0]
        following = model.get_predictions(output)[:, -1].argmax(dim=-1)
        has_ended = (said == EOS).any(dim=1)
        said = torch.cat([said, torch.where(has_ended, PAD, following)[:, None]], dim=1)
    return said[:, 1:]
