"""Packages that a student's files may import but no graded component needs: plotting, notebooks, tracking, corpora.

A worker cannot open files, and loading these packages beforehand would cost seconds per submission. They can be
imported, and raise when something of them is called, so that a plot at the end of `train.py` costs no marks.
"""

from __future__ import annotations

from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

PACKAGES = frozenset(
    (
        "IPython",
        "datasets",
        "ipywidgets",
        "jupyter",
        "matplotlib",
        "nltk",
        "notebook",
        "pandas",
        "plotly",
        "rich",
        "scipy",
        "seaborn",
        "sklearn",
        "spacy",
        "tensorboard",
        "tokenizers",
        "torch.utils.tensorboard",
        "torchinfo",
        "torchtext",
        "torchvision",
        "transformers",
        "wandb",
    )
)


class Absent:
    """Any name of an absent package; a call raises."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")

    def __call__(self, *arguments: object, **options: object) -> None:
        """Raises ImportError."""
        raise ImportError(f"{self.__name__}: {self.__name__.partition('.')[0]} is not available during grading")


class AbsentModule(ModuleType):
    """A module of an absent package."""

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")


class AbsentFinder(MetaPathFinder, Loader):
    """Part of the import system: knows the absent packages, nothing else."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        """A spec for a module of an absent package."""
        parts = fullname.split(".")
        prefixes = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
        return ModuleSpec(fullname, self, is_package=True) if PACKAGES.intersection(prefixes) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty module that has every name."""
        return AbsentModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""
