"""Trainings with a submission's `train_epoch` on a small stand-in for the model, and what they should end with.

Before a step the gradient should be that of the mean over all labels of the group's batches. How much the gradient of
each batch should count in it, and how much it does, is found by least squares. No model runs here: each label is a row
of two tables, and costs and gradients follow from these in closed form.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from assignment.stand_ins.models import TinyTranslator
from autograder.testing.case import Case, SubmissionUnderTest, filled
from autograder.testing.comparison import TOLERANCE, TOLERANCE_OF_FLOAT32, alike, expect, expect_close, expect_parts
from autograder.testing.experiments import attempted
from foundation.texts import printable

from .search import in_a_row

SIZES = 7, 9, 5
"""Of the small model: source and target vocabulary, d_model."""
PAD = 0
EXACT = 1e-4
"""Relative to the gradient: so much of it the weighted gradients of batches may leave unexplained."""
IN_EVAL_MODE = TinyTranslator(*SIZES).eval().mode()

Batch = dict[str, Tensor]
Shape = tuple[int, int, int]
"""Of a batch: sentences, length, length of all sentences but the first."""


def n_labels(shape: Shape) -> int:
    """How many labels a batch of this shape has."""
    b, t, cut = shape
    return t + (b - 1) * cut


_ALL_SHAPES = [(b, t, cut) for b in range(2, 5) for t in range(3, 8) for cut in range(1, t)]
SHAPES = [[*group] for _, group in groupby(sorted(_ALL_SHAPES, key=n_labels), n_labels)]
"""Those of one group have the same number of labels."""


class Training:
    """A run of the submission's train_epoch, and the result that it should have."""

    def __init__(
        self,
        submission: SubmissionUnderTest,
        case: Case,
        n_batches: int,
        accumulate: int = 1,
        max_grad_norm: float | None = None,
        rate: float = 0.5,
        smoothing: float = 0.1,
        shape: str = "any",
        pad: int = PAD,
        dtype: torch.dtype = torch.float64,
        values: str = "usual",
        has_encoder_mask: bool = False,
        **state: Any,
    ) -> None:
        """Draws parameters and batches; the `state` in which model and batches come is in `stand_ins.models.Run`."""
        self.submission, self.rate, self.smoothing, self.pad, self.dtype = submission, rate, smoothing, pad, dtype
        self.accumulate, self.max_grad_norm, self.state = accumulate, max_grad_norm, state
        self.has_encoder_mask = has_encoder_mask  # which is not the source's
        self.epochs: int = state.get("epochs", 1)
        self.start = [p.detach() for p in TinyTranslator(*SIZES, dtype).parameters()]
        case.randomise(self.start)
        if values == "large losses":  # from large logits alone, and in small steps: the rest stays well conditioned
            self.rate = min(rate, 0.01)
            self.start[2:] = [80 * parameter for parameter in self.start[2:]]
        n_learned = len(self.start) - (state.get("without_gradient") == "the last")
        self.sizes = [parameter.numel() for parameter in self.start[:n_learned]]
        self.n_numbers = sum(self.sizes)
        # No two batches have the same number of labels, whatever the seed: their weights must differ.
        self.batches: list[Batch] = []
        self.is_word: list[Tensor] = []  # of each label, by batch; the others are padding
        shuffled = case.chance.sample(SHAPES, len(SHAPES))
        for number in range(1, n_batches + 1):
            special = {"one sentence": (1, number, number), "many labels": (8 + number, 12, 9), "equal": (3, 4, 4)}
            usual = case.chance.choice(shuffled[number % len(SHAPES)])
            b, t, cut = special.get(shape, usual)
            self.is_word.append(filled(torch.tensor([t] + [cut] * (b - 1)), t))
            self.batches.append(self._draw_batch(case, b, t, cut))

    def _draw_batch(self, case: Case, b: int, t: int, cut: int) -> Batch:
        """A batch of b sentences, one with t labels and the others with `cut`."""
        s = case.size(3, 6)
        src_mask = case.padding_mask(b, s) if b > 1 else case.mask(1, 1, 1, s)
        labels = case.tokens(SIZES[1], b, t)
        labels[0, 0] = 0  # the usual padding, where it is a word like any other
        labels[labels == self.pad] = 1
        labels[1:, cut:] = self.pad
        return {
            "src": case.tokens(SIZES[0], b, s),
            "src_mask": src_mask,
            "encoder_mask": case.mask(b, 1, s, s) if self.has_encoder_mask else src_mask,
            "tgt_input": case.tokens(SIZES[1], b, t),
            "tgt_mask": case.mask(b, 1, t, t),
            "labels": labels,
        }

    @property
    def groups(self) -> list[list[int]]:
        """The numbers of the batches of each step, in all epochs."""
        steps = torch.arange(len(self.batches)) // self.accumulate
        return [(steps == step).nonzero().flatten().tolist() for step in steps.unique()] * self.epochs

    def rate_of(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        return self.rate * (0.5**step if self.state.get("schedule") else 1.0)

    def run(self) -> tuple[list[Any], list[Tensor], int | None, list[str]]:
        """Call train_epoch: losses of the epochs, parameters afterwards, the scheduler's steps, changed settings."""
        returned = self.submission.apply("train", "train.train_epoch", self._described())
        names = "losses", "parameters", "the scheduler's steps", "changed settings"
        losses, parameters, steps, changed = expect_parts(returned, names, "what comes back")
        return losses, parameters, steps, changed

    def _described(self) -> dict[str, Any]:
        options = {"accumulate": self.accumulate, "max_grad_norm": self.max_grad_norm}
        settings = {"rate": self.rate, "pad": self.pad, "smoothing": self.smoothing, "options": options}
        # It may write into these.
        copies = [{name: tensor.clone() for name, tensor in batch.items()} for batch in self.batches]
        return {"start": self.start, "batches": copies, **settings, **self.state}

    def expected(self) -> tuple[list[float], list[Tensor]]:
        """The mean loss of each epoch, and the parameters after descent on the mean over all labels of each group."""
        momentum, decay, without = (self.state.get(key, 0) for key in ("momentum", "weight_decay", "without_gradient"))
        slower = 1 + torch.arange(len(self.sizes)) % self.state.get("parameter_groups", 1)
        slower, place = slower.repeat_interleave(torch.tensor(self.sizes)), in_a_row(self.start).double()
        moved, moving = place[: self.n_numbers], torch.zeros(self.n_numbers).double()
        means: list[float] = []
        for step, group in enumerate(self.groups):
            costs, gradient = self.costs(place, group)
            means += [float(of_batch.mean()) for of_batch in costs]
            moving = momentum * moving + limited(gradient, self.max_grad_norm) + decay * moved
            moved -= self.rate_of(step) / slower * moving
        numbers = place.to(self.dtype).split([parameter.numel() for parameter in self.start])
        spare = [self.start[-1][:3]] if without == "one more" else []
        trained = [own.view_as(parameter) for own, parameter in zip(numbers, self.start, strict=True)]
        return torch.tensor(means, dtype=torch.float64).view(self.epochs, -1).mean(dim=1).tolist(), trained + spare

    def costs(self, place: Tensor, numbers: Sequence[int], **other: Any) -> tuple[Sequence[Tensor], Tensor]:
        """The cost of each label of these batches, and the gradient of their mean, all numbers in a row.

        The place is that of the parameters, likewise; `other` settings are those of `_tables`.
        """
        tables = [self._tables(number, **other) for number in numbers]
        read, aims = (torch.cat(parts) for parts in zip(*tables, strict=True))
        n_vectors, d = sum(SIZES[:2]), SIZES[2]
        vectors, projection, shift = place.split([n_vectors * d, SIZES[1] * d, SIZES[1]])
        vectors, projection = vectors.view(n_vectors, d), projection.view(d, -1)
        state = torch.tanh(read @ vectors.sin())
        scores = 0.4 * torch.addmm(shift, state, projection)
        size = scores.logsumexp(1)
        excess = 0.4 * ((scores - size[:, None]).exp() - aims)
        back = F.linear(excess, projection) * (1 - state * state)
        gradient = in_a_row([read.mT @ back * vectors.cos(), state.mT @ excess, excess.sum(0)]) / len(aims)
        costs = size - torch.linalg.vecdot(aims, scores)
        return costs.split([len(table) for table, _ in tables]), gradient[: self.n_numbers]

    def _tables(
        self, number: int, mode: float = 1.0, smoothing: float | None = None, with_padding: bool = False
    ) -> tuple[Tensor, Tensor]:
        """For each label of a batch how much of each word's vector is read, and which share each word should have.

        Words are those of the source, then of the target, in the first table; those of the target in the second.
        """
        batch, smoothing = self.batches[number], self.smoothing if smoothing is None else smoothing
        n_source, n_target, _ = SIZES
        seen = batch["src_mask"][:, 0] * batch["encoder_mask"].double().mean(dim=(1, 2))[:, None]  # (b, 1, s)
        source = 2 * mode * seen @ F.one_hot(batch["src"], n_source).double() / seen.size(-1)
        target = batch["tgt_mask"][:, 0].double() @ F.one_hot(batch["tgt_input"], n_target).double()
        labels = batch["labels"]
        counts = labels.ge(0) if with_padding else self.is_word[number]
        aims = torch.eye(n_target).double()[labels[counts]]
        read = torch.cat([source.expand(-1, labels.size(1), -1), target], dim=-1)[counts]
        return read, aims.lerp(torch.full_like(aims, 1 / n_target), smoothing)

    def check(self, trained: list[Tensor], label: str, look_at: str) -> None:
        """Fail unless the parameters after training are the expected ones."""
        expected = self.expected()[1]
        shapes = [[tuple(p.shape) for p in several] for several in (expected, trained)]
        unchanged = "train_epoch changes the values of the model's parameters and adds or removes none"
        expect(shapes[0] == shapes[1], f"{label}: its parameters", f"{shapes[0]}", f"{shapes[1]}"[:200], unchanged)
        # Some bits less than float32 has, as under autocast, show with every seed.
        tolerance = TOLERANCE if self.dtype == torch.float64 else TOLERANCE_OF_FLOAT32 / 20
        for index, (actual, wanted) in enumerate(zip(trained, expected, strict=True)):
            expect_close(actual, wanted, f"{label}: parameter {index + 1}", look_at, tolerance)

    def traits(self) -> Iterator[str]:
        """Yield what may separate this training from others, in words."""
        yield "where batches accumulate" if self.accumulate > 1 else "where each batch has its own step"
        yield f"with {'an' if len(self.batches) % self.accumulate else 'no'} incomplete last group"
        yield f"with{'out' * (self.max_grad_norm is None)} max_grad_norm"
        yield f"with{'out' * ('schedule' not in self.state)} a scheduler"
        yield f"where the model comes in {'train' if self.state.get('is_training', True) else 'eval'} mode"
        yield "over several epochs" if self.epochs > 1 else "in a single epoch"
        traits = {
            "where a parameter has no gradient": "without_gradient" in self.state,
            "where gradients are left from before": "old_gradients" in self.state,
            "where padding is not 0": self.pad != PAD,
            "where the encoder has a mask of its own": self.has_encoder_mask,
        }
        yield from (text for text, is_so in traits.items() if is_so)

    def observe(self) -> str:
        """Name in one line where a training of this kind first does something else than it should; "" = nowhere."""

        def find() -> str:
            with torch.enable_grad():
                note, steps = self.submission.apply("watch_training", "train.train_epoch", self._described())
            return printable(str(note)) or first_deviation(self, steps)  # it comes from where the submission runs

        return attempted(find)

    def about_mean(self, returned: list[float]) -> str:
        """Name what the first epoch's loss is in place of the mean, where no step changes the parameters."""
        costs, _ = self.costs(in_a_row(self.start).double(), range(len(self.batches)))
        losses, of_all = [float(of_batch.mean()) for of_batch in costs], torch.cat([*costs])
        others = {
            "the sum of the batches' losses": sum(losses),
            "the last batch's loss": losses[-1],
            "the first batch's loss": losses[0],
            "the mean over all labels": float(of_all.mean()),
            "the sum over all labels": float(of_all.sum()),
        }
        fits = (text for text, loss in others.items() if abs(loss - returned[0]) < 1e-6 * abs(loss))
        return next((f"this is {text}" for text in fits), "")


def limited(gradient: Tensor, most: float | None) -> Tensor:
    """A gradient whose norm is limited; None = no limit."""
    return gradient if most is None else gradient[None].renorm(2, 0, most)[0]


def first_deviation(training: Training, steps: Sequence[Sequence[Any]]) -> str:
    """Name what is wrong at the first step that is not as it should be."""
    groups = training.groups
    if not steps:
        return "the optimizer never steps"
    before: list[tuple[str, Tensor]] = []  # gradients of earlier batches, with their names
    for number, (step, group) in enumerate(zip(steps, groups, strict=False), start=1):
        gradients, parameters, n_read, is_training, rate = step
        place = in_a_row(parameters).double()[: sum(parameter.numel() for parameter in training.start)]
        if n_read != len(group):
            return f"step {number} comes after {n_read} more batches; it should come after {len(group)}"
        applied = in_a_row(gradients).double()[: training.n_numbers]
        if deviation := deviation_of_gradient(training, applied, place, group, before):
            mode = "" if is_training or "eval mode" in deviation else "; the model, or a part of it, is in eval mode"
            return f"the gradient before step {number} {deviation}{mode}"
        due = training.rate_of(number - 1)
        if abs(rate - due) > EXACT * due:
            others = (n for n in range(1, 20) if abs(rate - training.rate_of(n - 1)) <= EXACT * rate)
            of_other = "".join(f", that of step {n}" for n in islice(others, 1)) * ("schedule" in training.state)
            return f"step {number} has the learning rate {rate:.4g}{of_other}; it should be {due:.4g}"
        before += [(f"batch {index + 1}", training.costs(place, [index])[1]) for index in group]
    if len(steps) != len(groups):
        return f"the optimizer takes {len(steps)} steps; it should take {len(groups)}"
    return "the gradient is right before each step: do the parameters change by the optimizer's steps alone?"


OTHER_GRADIENTS: dict[str, dict[str, Any]] = {
    "is that of a loss that counts padding, too": {"with_padding": True},
    "is that of a loss that has no label smoothing": {"smoothing": 0.0},
    "belongs to a model in eval mode": {"mode": IN_EVAL_MODE},
}


def deviation_of_gradient(
    training: Training, applied: Tensor, place: Tensor, group: Sequence[int], before: list[tuple[str, Tensor]]
) -> str:
    """Name which gradient this is, continuing "the gradient before the step"; "" if it is right."""
    own, max_norm = [training.costs(place, [number])[1] for number in group], training.max_grad_norm
    _, whole = training.costs(place, group)
    shares, wanted = weights_of(own, whole), limited(whole, max_norm)
    norm, due = float(applied.norm()), float(wanted.norm())
    if alike(applied, wanted):
        return ""
    if not applied.any():
        return "is 0"
    if max_norm is not None and abs(norm - due) > EXACT * due and float(applied @ wanted) > (1 - EXACT) * norm * due:
        return f"has the norm {norm:.3g}, where max_grad_norm = {max_norm:g}; it should be {due:.3g}"
    if max_norm is not None:
        by_batch = shares @ torch.stack([limited(gradient, max_norm) for gradient in own])
        running = torch.zeros_like(whole)
        for share, gradient in zip(shares, own, strict=True):
            running = limited(running + share * gradient, max_norm)
        if text := other_clipping(training, applied, whole, by_batch, running):
            return text
    if (weights := solve(own, applied)) is not None:
        labels = [training.batches[number]["labels"] for number in group]
        counts_of = {
            "equally, however many labels they have": [1.0 for _ in labels],
            "by all their labels, padding too": [float(x.numel()) for x in labels],
            "by their numbers of sentences": [float(len(x)) for x in labels],
        }
        for text, factors in counts_of.items():
            other = torch.tensor(factors, dtype=torch.float64)
            if len(labels) > 1 and alike(weights, other / other.sum()):
                return f"weights the batches of the group {text}"
        return in_words([f"batch {number + 1}" for number in group], (weights / shares).tolist())
    if solve([*own, torch.ones_like(applied)], applied) is not None:
        return "contains gradients from before the call"
    if before and (weights := solve([*own, *(gradient for _, gradient in before)], applied)) is not None:
        late = [name for (name, _), weight in zip(before, weights[len(own) :], strict=True) if abs(weight) > EXACT]
        return f"contains that of {', '.join(late)}, too, from an earlier step"
    for text, changes in OTHER_GRADIENTS.items():
        if solve([training.costs(place, [number], **changes)[1] for number in group], applied) is not None:
            return text
    return "is another one than that of the mean over all labels of the group"


def other_clipping(training: Training, gradient: Tensor, whole: Tensor, by_batch: Tensor, running: Tensor) -> str:
    """Name what is limited in place of the norm of the whole gradient; "" where it is nothing that is known."""
    max_norm = float(training.max_grad_norm or 0)
    pieces = whole.split(training.sizes)
    others = {
        "has each number limited, not the norm of all": whole.clamp(-max_norm, max_norm),
        "has the norm of each parameter limited by itself": in_a_row([limited(piece, max_norm) for piece in pieces]),
        "has the norm of each batch's gradient limited, not that of the group": by_batch,
        "has its norm limited after each batch, not once for the group": running,
    }
    near = EXACT * gradient.norm()  # PyTorch adds 1e-6 to a norm
    return next((text for text, other in others.items() if (gradient - other).norm() < near), "")


def weights_of(gradients: Sequence[Tensor], gradient: Tensor) -> Tensor:
    """The weights with which gradients come nearest to another one."""
    solution: Tensor = torch.linalg.lstsq(torch.stack([*gradients], dim=1), gradient[:, None]).solution
    return solution[:, 0]


def solve(gradients: Sequence[Tensor], gradient: Tensor) -> Tensor | None:
    """The weights with which gradients add up to another one; None where they do not."""
    weights = weights_of(gradients, gradient)
    is_off = float((weights @ torch.stack([*gradients]) - gradient).norm()) > EXACT * float(gradient.norm())
    return None if is_off else weights


def in_words(names: Sequence[str], times: Sequence[float]) -> str:
    """How much batches count, as a multiple of what they should."""
    if idle := [name for name, factor in zip(names, times, strict=True) if abs(factor) < EXACT]:
        return f"has no part of {', '.join(idle)}"
    if max(times) - min(times) < EXACT:
        size = f", which has {len(names)} batches" * (len(names) > 1)
        return f"is {times[0]:.4g} times that of the mean over all labels of the group{size}"
    parts = (f"the labels of {name} {factor:.3g} times" for name, factor in zip(names, times, strict=True))
    return f"counts {', '.join(parts)} as much as it should"
