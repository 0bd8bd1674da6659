"""The components that students must write themselves, by PyTorch's names for them."""

import re

from foundation.contract import Forbidden

LIBRARY = "torch"
NOTHING = "(?!)"
"""A regular expression that matches no text."""
SUBMODULES = {"torch.nn": {"functional", "modules", "attention"}}
"""Packages with modules of theirs that may hold forbidden names, where `from … import *` brings these modules."""


class ForbiddenNames:
    """An assignment's list of forbidden names."""

    def __init__(self, forbidden: Forbidden) -> None:
        """Takes the list as the assignment's file has it."""
        self._modules = forbidden.modules
        self._classes = re.compile(forbidden.classes or NOTHING)
        self._functions = re.compile(forbidden.functions or NOTHING)
        self._star_exports = {  # forbidden names that `from … import *` brings
            "torch": self._functions,
            "torch.nn": self._classes,
            "torch.nn.modules": self._classes,
            "torch.nn.functional": self._functions,
        }

    def has(self, path: str) -> bool:
        """Whether a dotted path, "torch.nn.LayerNorm", is on the list, or an attribute of something that is."""
        first, _, rest = path.partition(".")
        if first != LIBRARY:
            return False
        if any(path == module or path.startswith(module + ".") for module in self._modules):
            return True
        return any(self._classes.fullmatch(part) or self._functions.fullmatch(part) for part in rest.split("."))

    def star_brings(self, package: str, name: str) -> bool:
        """Whether `from package import *` may define a name that leads to a forbidden one."""
        if package.partition(".")[0] != LIBRARY:
            return False
        if name in SUBMODULES.get(package, ()):
            return True
        pattern = self._star_exports.get(package)
        if pattern is None:  # some inner module
            return self.has(f"{LIBRARY}.{name}")
        return bool(pattern.fullmatch(name)) and not name.startswith("_")
