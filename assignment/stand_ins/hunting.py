"""A bug hunt beside the code that it is made of: a student's component, and the component with one line changed."""

from __future__ import annotations
import __future__

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

FLAGS = __future__.annotations.compiler_flag
"""Names in annotations may be missing."""


class Hunt:
    """A component with one line changed, the `box`, and `right`, the component as it is.

    Both take the arguments of the component's call, as tensors or as lists of numbers. A class is made with the same
    arguments and the same random parameters in each of them, and is in eval mode.

    Attributes:
        number: of the component's task, "1.2".
        suspects: a number and a line for each change that may have been made.
        inputs: an example of a call.
    """

    def __init__(self, package: str, content: dict[str, Any]) -> None:
        """Takes the package of the component, and the `content` of a hunt (`own_work/hunts.py`)."""
        self.number, self.inputs = content["number"], content["inputs"]
        self.suspects = [(number, code) for number, code in content["suspects"]]
        self._module, _, self._name = content["component"].rpartition(".")
        self._package, self._made_with, self._text = package, content["made_with"], content["own"]
        self._places = content["places"]
        self.right = self._caller(self._text)
        self.box = self._caller(content["changed"])

    def guess(self, number: int, code: str) -> Callable[..., Any]:
        """Return the component with another line in the place of one: does it behave like the box?"""
        lines = self._text.split("\n")
        old = lines[self._places[number - 1]]
        lines[self._places[number - 1]] = old[: len(old) - len(old.lstrip())] + code
        return self._caller("\n".join(lines))

    def _caller(self, text: str) -> Callable[..., Any]:
        names = dict(vars(importlib.import_module(f"{self._package}.{self._module}")))
        exec(compile(text, "<hunt>", "exec", FLAGS, dont_inherit=True), names)  # noqa: S102  the student's own code

        def call(*inputs: Any) -> Any:
            component = names[self._name]
            with torch.no_grad():
                if self._made_with is not None:
                    component = component(**self._made_with).eval()
                    generator = torch.Generator().manual_seed(0)
                    for parameter in component.parameters():
                        nn.init.normal_(parameter, std=0.5, generator=generator)
                return component(*(_as_example(*pair) for pair in zip(inputs, self.inputs, strict=False)))

        return call


def _as_example(value: Any, example: Any) -> Any:
    return value if value is None or example is None else torch.as_tensor(value, dtype=example.dtype)


def find(findings: Callable[..., Any], hunts: Sequence[dict[str, Any]]) -> Any:
    """Call `findings` with a student's hunts."""
    package = findings.__module__.rpartition(".")[0]
    return findings([Hunt(package, content) for content in hunts])
