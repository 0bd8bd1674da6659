"""The package whose model is trained and used: `reference`, `student`, or any other with the contract's modules.

    package.use("student")        # first of all; the package's `__main__` does it
    package.model.Transformer     # from then on: what its modules have, as they are imported now

Modules are looked up at each use, so that in a notebook what was changed and imported anew counts.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for checkers of types: what a package has to offer
    from reference import attention as attention
    from reference import data as data
    from reference import decode as decode
    from reference import embedding as embedding
    from reference import layers as layers
    from reference import masks as masks
    from reference import model as model
    from reference import train as train
    from reference import vocab as vocab

MODULES = ("attention", "data", "decode", "embedding", "layers", "masks", "model", "train", "vocab")
_names: list[str] = []  # of the package, once it is known


def use(name: str) -> None:
    """Sets the package of the model, for this process."""
    _names[:] = [name]


def name() -> str:
    """Returns the name of the package. Raises: RuntimeError if `use` was not called."""
    if not _names:
        raise RuntimeError("whose model? Call `given.package.use` with the name of its package first")
    return _names[0]


def __getattr__(module: str) -> ModuleType:
    if module not in MODULES:
        raise AttributeError(module)
    return import_module(f"{name()}.{module}")
