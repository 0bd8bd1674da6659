"""One call of a component, with what has happened to the object before."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

LETTERS = {"d": "d_model", "h": "n_heads", "f": "d_ff", "n": "n_layers"}


@dataclass(frozen=True)
class Moment:
    """One call of a component.

    Attributes:
        component: "module.Name".
        settings: the constructor's arguments by name, defaults included; a function has none.
        arguments: the call's arguments by name, defaults included.
        module: the object; None for a function.
        calls: how many calls of this object, or function, came before.
        last: the arguments of the call before.
        is_copied: whether the object is a deep copy.
        is_restored: whether it has loaded a state dict.
        has_other_weights: whether its parameters have changed since its first call.
    """

    component: str
    settings: Mapping[str, Any]
    arguments: Mapping[str, Any]
    module: nn.Module | None = None
    calls: int = 0
    last: Mapping[str, Any] | None = None
    is_copied: bool = False
    is_restored: bool = False
    has_other_weights: bool = False

    def get(self, name: str) -> Any:
        """An argument of the call, or a setting; None where there is neither."""
        return self.arguments.get(name, self.settings.get(name))

    @property
    def masks(self) -> list[Tensor | None]:
        """The masks among the arguments."""
        return [value for name, value in self.arguments.items() if name.endswith("mask")]

    @property
    def given_masks(self) -> list[Tensor]:
        """Those that are not None."""
        return [mask for mask in self.masks if isinstance(mask, Tensor)]

    @property
    def tensors(self) -> list[Tensor]:
        """The other tensors among the arguments."""
        pairs = self.arguments.items()
        return [value for name, value in pairs if isinstance(value, Tensor) and not name.endswith("mask")]

    @property
    def floats(self) -> list[Tensor]:
        """Those of them that hold no ids."""
        return [tensor for tensor in self.tensors if tensor.is_floating_point() and tensor.numel()]

    def sizes(self) -> dict[str, int]:
        """Sizes by letter: b batch · q queries or positions · k keys or positions of the memory · d features · h heads.

        A letter whose size the call does not tell is missing.
        """
        found: dict[str, int] = {}
        first = next(iter(self.tensors), None)
        name = self.component.split(".")[1]
        if name == "scaled_dot_product_attention":
            b, h, q, d = self.arguments["query"].shape
            return {"b": b, "h": h, "q": q, "k": self.arguments["key"].size(-2), "d": d}
        if first is not None and 1 < first.dim() < 4:
            found |= {"b": first.size(0), "q": first.size(1)}
        for source in (self.arguments.get("key"), self.arguments.get("memory")):
            if isinstance(source, Tensor):
                found["k"] = source.size(1)
        found |= {letter: self.settings[key] for letter, key in LETTERS.items() if key in self.settings}
        if "length" in self.arguments:
            found["q"] = self.arguments["length"]
        return found
