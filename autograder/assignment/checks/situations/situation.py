"""One call of a component in some situation: sizes, masks, values, mode, precision, gradients, and what came before.

`levels` names what situations are made of, `drawing` draws the arguments, and `judging` compares what a component does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from autograder.assignment.stand_ins.calling import Call
from autograder.testing.comparison import copies

GRADIENTS_IN_WORDS = {
    "no_grad": "under torch.no_grad()",
    "inference_mode": "under torch.inference_mode()",
    "frozen": "with parameters that need no gradient",
}
HISTORY_IN_WORDS = {
    "same objects": "after a call with the same tensors, which held other values then",
    "same shapes": "after a call with other tensors of the same shapes",
    "deep copy": "by a deep copy of the object",
    "state dict": "by a copy that had other weights before it loaded the state dict",
}


@dataclass
class Situation:
    """One call, and what matters about it.

    Attributes:
        inputs: the arguments.
        names: of the arguments.
        row: the levels that it was made from.
        counted: for each part of the result what counts of it, as factors 0 and 1; None = all of it.
        method: of the object.
        training: whether in train mode.
        earlier: what a call before had in the place of arguments that are None here; otherwise None.
        before: copies of the arguments.
    """

    inputs: tuple[Tensor | None, ...]
    names: Sequence[str]
    row: dict[str, Any]
    counted: Sequence[Tensor | None] = ()
    method: str = "forward"
    training: bool = False
    earlier: Sequence[Tensor | None] = ()
    before: list[Tensor | None] = field(default_factory=list)

    @property
    def gradients(self) -> str:
        """What is differentiated, or the mode in which nothing is."""
        return str(self.row.get("gradients", "of parameters"))

    @property
    def history(self) -> str:
        """What came before the call."""
        return str(self.row.get("history", "nothing"))

    @property
    def is_differentiated(self) -> bool:
        """Whether its gradients are judged: not of a copy that will load its weights again."""
        return self.gradients.startswith("of") and self.history != "state dict"

    @property
    def is_of_copy(self) -> bool:
        """Whether a copy is called, whose parameters' gradients are out of reach."""
        return self.history == "deep copy"

    def call(self) -> Call:
        """As `stand_ins.in_turn` takes it."""
        gradients = "on" if self.gradients.startswith("of") else self.gradients
        by_name = list(self.names[1:]) if self.row.get("called") == "by name" else []
        inputs, earlier = list(self.inputs), list(self.earlier)
        return self.method, gradients, self.history, self.training, inputs, earlier, by_name

    def prepare(self) -> None:
        """Marks the inputs whose gradients are wanted, and keeps copies."""
        floats = [tensor for tensor in self.inputs if tensor is not None and tensor.is_floating_point()]
        chosen = {"of inputs": floats, "of the other inputs": floats[1:]}
        for tensor in chosen.get(self.gradients, []) if self.history != "same objects" else []:
            tensor.requires_grad_()
        self.before = copies(self.inputs)

    def describe(self) -> str:
        """In words, for a message."""
        parts = []
        for name, tensor in zip(self.names, self.inputs, strict=True):
            if tensor is None:
                parts.append(f"{name} None")
            else:
                kind = "" if tensor.dtype in (torch.bool, torch.float64, torch.int64) else " float32"
                gaps = "" if tensor.is_contiguous() else " not contiguous"
                parts.append(f"{name} {tuple(tensor.shape)}{kind}{gaps}")
        if self.row.get("called") == "by name":
            parts.append("all but the first by name")
        if self.gradients in GRADIENTS_IN_WORDS:
            parts.append(GRADIENTS_IN_WORDS[self.gradients])
        if self.training:
            parts.append("in train mode")
        if self.row.get("values", "normal") != "normal":
            parts.append(f"values: {self.row['values']}")
        if self.history in HISTORY_IN_WORDS:
            parts.append(HISTORY_IN_WORDS[self.history])
        return ", ".join(parts)
