"""The contract: what every submission to an assignment must offer, by name, and what it must not use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Forbidden:
    """The parts of PyTorch that students must write themselves; `[contract.forbidden]` in assignment.toml.

    Attributes:
        classes: a regular expression for names of classes; "" = none.
        functions: one for names of functions.
        modules: dotted names of modules, nothing of which may be used.
        kernels: a regular expression for the names of kernels, "native_layer_norm", that a worker replaces.
        python: dotted names of classes and functions written in Python, which a worker stops.
        internals: a regular expression for dotted names, or ".name" of an attribute of anything, whose uses are
            allowed and listed for a person to read.
    """

    classes: str = ""
    functions: str = ""
    modules: tuple[str, ...] = ()
    kernels: str = ""
    python: tuple[str, ...] = ()
    internals: str = ""


@dataclass(frozen=True)
class Contract:
    """The modules of a submission and their components; `[contract]` in assignment.toml.

    A component is a class or function that tests may ask for, written "module.Name".

    Attributes:
        modules: name of each module -> names of its components, which may be none.
        nn_modules: the names among them of classes derived from `nn.Module`.
        methods: what tests may call on an `nn.Module` besides `forward`.
        initialised: the names of components whose first parameter values the contract fixes.
        forbidden: what submissions must not use.
    """

    modules: Mapping[str, tuple[str, ...]]
    nn_modules: frozenset[str] = frozenset()
    methods: tuple[str, ...] = ()
    initialised: frozenset[str] = frozenset()
    forbidden: Forbidden = Forbidden()

    @cached_property
    def components(self) -> tuple[str, ...]:
        """All components, "module.Name", in the order of the file."""
        return tuple(f"{module}.{name}" for module, names in self.modules.items() for name in names)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The file of each module."""
        return tuple(f"{module}.py" for module in self.modules)
