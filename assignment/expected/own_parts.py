"""Stacks and models that are made of parts of a submission's own, in which no stand-in can be recognised.

They are compared with the submission's own layers, or its own stacks, as they are, which get their parameters: what
such a part computes costs another task. Where the submission offers no such parts, what holds for all stacks must
hold, and a reader decides the rest.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from autograder.testing.case import SubmissionUnderTest
from autograder.testing.comparison import expect_parts
from autograder.testing.fitting import Computation, leaves_of
from autograder.testing.results import CheckFailed, OtherPartsError, UnreadableError
from autograder.testing.subject import Subject

from .flows import flow_of
from .masks import expect_masks_obeyed
from .modules import in_single

PARTS_OF_STACKS = {"Encoder": ("x", "weights"), "Decoder": ("x", "self_weights", "cross_weights")}
RULE = "a key that the mask hides counts for nothing, in every layer; the memory counts in each decoder layer"


class OwnParts:
    """The parts of a stack or a model, each with its parameters.

    Attributes:
        leaves: for each parameter of the whole, what to compute with: that of a part, or a copy in float64.
    """

    def __init__(self, submission: SubmissionUnderTest, parameters: Sequence[nn.Parameter], d_model: int) -> None:
        """Takes the parameters of the whole, and the size of its features."""
        self.submission, self.d_model = submission, d_model
        self.leaves, self._is_free = leaves_of(parameters), [True] * len(parameters)

    def take(self, component: str, **options: Any) -> nn.Module | None:
        """The submission's own component, with the first free parameters of its shapes; None if there are none."""
        try:
            build = partial(self.submission.build, component, self.d_model, isolated=False, dtype=torch.float64)
            part = build(**options).eval()
        except TimeoutError:
            raise
        except Exception:  # this part is not offered, or does not work; what is judged may do without
            return None
        own = [*part.parameters()]
        shapes = [p.shape for p in own]
        for start in range(len(self.leaves) - len(own) + 1):
            where = slice(start, start + len(own))
            if own and all(self._is_free[where]) and [leaf.shape for leaf in self.leaves[where]] == shapes:
                with torch.no_grad():
                    for parameter, leaf in zip(own, self.leaves[where], strict=True):
                        parameter.copy_(leaf)
                self.leaves[where], self._is_free[where] = own, [False] * len(own)
                return part
        return None

    def layers(self, kind: str, whole: Callable[[], nn.Module], **options: Any) -> list[Computation]:
        """The layers of a stack of this kind; without any, the `whole` is judged by what holds for all stacks."""
        modules = [*iter(partial(self.take, f"layers.{kind}Layer", **options), None)]
        if not modules:
            x, memory = (torch.randn(2, length, self.d_model, dtype=torch.float64) for length in (4, 5))
            plain = {"x": x} if kind == "Encoder" else {"x": x, "memory": memory}
            try:
                expect_masks_obeyed(Subject(whole(), PARTS_OF_STACKS[kind], []), plain, RULE)
            except CheckFailed as error:  # it may have all parts: still it has gradients
                raise OtherPartsError(str(error), error.compared) from None
            raise UnreadableError(
                f"the stack cannot be judged: its layers have other parameters than {kind}Layer, or there is none\n"
                f"  look at:  it is judged by its layers if adapters.py offers them, too, as {kind}Layer"
            )
        return [as_contract(layer, PARTS_OF_STACKS[kind], "what a layer returns") for layer in modules]

    def stack(self, kind: str, n_layers: int, is_training: bool, **options: Any) -> Computation | None:
        """The submission's own stack, or its own layers one after another where it offers none; None without either."""
        whole = self.take(f"model.{kind}", n_layers=n_layers, **options)
        layers = [whole] if whole else [*iter(partial(self.take, f"layers.{kind}Layer", **options), None)]
        if not whole and len(layers) != n_layers:
            return None
        calls = [as_contract(part.train(is_training), PARTS_OF_STACKS[kind], f"what {kind} returns") for part in layers]
        flow = flow_of(kind, n_layers=len(calls))
        return calls[0] if whole else partial(flow.run, dict(zip(flow.places, calls, strict=True)))

    def positions(self) -> list[Computation]:
        """The submission's positions; of those that are learned, one for each place where such parameters are."""
        build = partial(self.submission.build, "embedding.PositionalEncoding", self.d_model, isolated=False)
        modules: list[Computation] = [build(dtype=torch.float64).eval()]
        n = len([*build().parameters()])
        for start in range((len(self.rest) - n + 1) * bool(n)):
            module, leaves = build(dtype=torch.float64).eval(), self.rest[start : start + n]
            if [p.shape for p in module.parameters()] == [leaf.shape for leaf in leaves]:
                for parameter, leaf in zip(module.parameters(), leaves, strict=True):
                    parameter.data.copy_(leaf.data)
                modules.append(module)
        return modules

    @property
    def rest(self) -> list[Tensor]:
        """The leaves that no part has."""
        return [leaf for leaf, is_free in zip(self.leaves, self._is_free, strict=True) if is_free]


def as_contract(module: Computation, names: Sequence[str], label: str) -> Computation:
    """A part that returns as many things as the contract asks for; a number, which no weights are, if it has none."""

    def call(*given: Tensor | None) -> list[Any]:
        result = module(*given)
        x, *weights = [result, *names[1:]] if isinstance(result, Tensor) else expect_parts(result, names, label)
        return [x, *map(tensors_or_zeros, weights)]

    return call


def tensors_or_zeros(value: object) -> Any:
    """Weights that a part returns, or a list of them."""
    if isinstance(value, (list, tuple)):
        return [tensors_or_zeros(x) for x in value]
    return value if isinstance(value, Tensor) else torch.zeros((), dtype=torch.float64)


def in_float32(call: Computation, *given: Any, **named: Any) -> Any:
    """The result of a call, in float32, in which public models compute their positions, whatever their dtype."""
    return in_single(call(*given, **named))
