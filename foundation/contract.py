"""The contract: what every submission to an assignment must offer, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Contract:
    """The modules of a submission and their components; `[contract]` in assignment.toml.

    A component is a class or function that tests may ask for, written "module.Name".

    Attributes:
        modules: name of each module -> names of its components, which may be none.
        nn_modules: the names among them of classes derived from `nn.Module`.
        methods: what tests may call on an `nn.Module` besides `forward`.
    """

    modules: Mapping[str, tuple[str, ...]]
    nn_modules: frozenset[str] = frozenset()
    methods: tuple[str, ...] = ()

    @cached_property
    def components(self) -> tuple[str, ...]:
        """All components, "module.Name", in the order of the file."""
        return tuple(f"{module}.{name}" for module, names in self.modules.items() for name in names)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The file of each module."""
        return tuple(f"{module}.py" for module in self.modules)
