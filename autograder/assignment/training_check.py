"""Does the whole submission learn? A short training run with all components the student's own, in the worker.

Component tests judge each part among stand-ins. Here a tiny model has to learn to reverse sequences, with the
submission's own `train_epoch`, and is then asked to translate new ones token by token. That needs all parts at once:
positions, masks, attention to the source, and gradients that reach everything. No points depend on it.

Shapes: b batch · s source length · t target length.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..grading.marks import TaskResult
from ..sandbox import SandboxUnavailableError
from ..testing.case import Case

PAD, BOS, EOS, FIRST_WORD, VOCABULARY = 0, 1, 2, 3, 11
SHORTEST, LONGEST = 2, 5
SIZES = dict(d_model=32, n_heads=4, d_ff=64, n_layers=2, dropout=0.0)
RATE, BATCH, BATCHES, EPOCHS = 3e-3, 64, 15, 12
TEST = 100
ENOUGH = 0.7
"""The share of new sequences that must be reversed without a mistake. See `docs/diagnosis.md` for what it rests on."""

HOPELESS = ("not attempted", "refused", "timeout", "out of memory", "grader error")
"""A task in one of these states, and the whole is not tried."""


@dataclass(frozen=True)
class Trainability:
    """The verdict on the whole.

    Attributes:
        state: "passed", "failed" (it ran and did not learn), "error" (an exception, or too slow) or "not run".
        message: why, for the student.
        accuracy: the share of new sequences that were right; None where it did not come so far.
        losses: mean training loss of each epoch.
        seconds: CPU time of this process and the worker together.
    """

    state: str
    message: str
    accuracy: float | None = None
    losses: tuple[float, ...] = ()
    seconds: float = 0.0


def missing_for(results: Sequence[TaskResult]) -> str:
    """Why a submission with these results cannot be trained; "" where it can."""
    needed = [result for result in results if result.task.components and not result.task.extension]
    for result in needed:
        if result.state in HOPELESS:
            return f"{result.task.number} {result.task.title} ended as `{result.state}`"
    return ""


def try_training(submission: object, seed: int = 0, norm_first: bool = False) -> Trainability:
    """Trains and asks; whatever the submission does, this returns a verdict.

    Args:
        submission: with the methods of a sandboxed one, whose limits hold here too.
        seed: of the data and the parameters' first values.
        norm_first: train a pre-norm model.

    Raises:
        SandboxUnavailableError: a fault of the grader's side.
    """
    started = time.process_time(), getattr(submission, "cpu_seconds", 0.0)
    losses: list[float] = []
    accuracy = None
    try:
        accuracy = _train_and_ask(submission, Case(seed, "trainability"), norm_first, losses)
        good = accuracy >= ENOUGH
        state, message = ("passed", "") if good else ("failed", _explain(losses, accuracy))
    except SandboxUnavailableError:
        raise
    except Exception as error:  # of the submission, or of what we did with an answer of another kind than it should be
        state, message = "error", f"{type(error).__name__.removeprefix('Submission')}: {error}"
        message = f"{message}\n{getattr(error, 'student_traceback', '')}".rstrip()
    spent = time.process_time() - started[0] + getattr(submission, "cpu_seconds", 0.0) - started[1]
    return Trainability(state, message, accuracy, tuple(losses), round(spent, 2))


def _explain(losses: Sequence[float], accuracy: float) -> str:
    text = f"trained to reverse sequences of {SHORTEST} to {LONGEST} tokens, it gets {accuracy:.0%} of new ones right"
    return f"{text} (expected: {ENOUGH:.0%}); its loss went from {losses[0]:.2f} to {losses[-1]:.2f}"


def _train_and_ask(submission: object, case: Case, norm_first: bool, losses: list[float]) -> float:
    model = submission.build(
        "model.Transformer", VOCABULARY, VOCABULARY, **SIZES, norm_first=norm_first, isolated=False
    )
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
def translate(model: object, src: Tensor) -> Tensor:
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
