"""Makes components with a known fault, from the reference and the catalogue.

The reference's package is loaded once. Of a fault only the definitions that its patch touches are compiled, once,
and run in a copy of their module's names, where stand-ins are in the place of the other components.
"""

import importlib
from collections.abc import Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from foundation.assignment_file import Assignment

from ..assignment_code import stand_ins_of
from ..assignment_parts import layouts_of
from ..sandbox.worker.loading import Package
from ..testing.in_process import read_sources
from .catalogue import SEVERITIES, Fault, apply, definition, faults_of


class Workshop:
    """Makes the reference's components, whole or with a fault.

    Attributes:
        stand_ins: the assignment's.
        readings: its ways to read a submission's parameters.
        initialised: names of the components whose first parameter values are part of the contract.
    """

    def __init__(self, reference: Path, assignment: Assignment, faults: Sequence[Fault] | None = None) -> None:
        """Reads the reference's folder and the catalogue, or takes some of its faults."""
        self.stand_ins, self.readings = stand_ins_of(assignment), layouts_of(assignment).readings
        self.initialised = assignment.contract.initialised
        self._nn_modules = assignment.contract.nn_modules
        self._sources = read_sources(reference, reference)
        contract = assignment.contract.modules
        self._package = Package(self._sources, contract, self.stand_ins, "reference_of_diagnosis")
        self._faults = list(faults_of(assignment) if faults is None else faults)
        self._code: dict[str, list[CodeType]] = {}

    def are_nn_modules(self, components: Sequence[str]) -> bool:
        """Whether all of these components are classes of modules: no test of theirs needs an optimizer."""
        return all(component.partition(".")[2] in self._nn_modules for component in components)

    def close(self) -> None:
        """Forgets the reference's modules."""
        self._package.close()

    def faults_of(self, components: Sequence[str], task: str) -> list[Fault]:
        """The faults of a task's components: the task's own first, and the blatant ones before the subtle ones."""
        found = [fault for fault in self._faults if fault.component in components]
        return sorted(found, key=lambda fault: (fault.task != task, SEVERITIES.index(fault.severity)))

    def make(self, component: str, fault: Fault | None) -> Any:
        """The reference's class or function with this fault (None = no fault), free of traces of earlier uses."""
        module, name = component.split(".")
        names = self._names(component, module)
        for code in self.compiled(component, fault):
            exec(code, names)  # noqa: S102  (code of ours: the reference with a patch of the catalogue)
        return names[name]

    def _names(self, component: str, module: str) -> dict[str, Any]:
        self._package.isolate(component)
        return dict(vars(importlib.import_module(f"{self._package.name}.{module}")))

    def compiled(self, component: str, fault: Fault | None) -> list[CodeType]:
        """The code of the definitions that the fault touches and of the component, which may use them."""
        key = fault.id if fault else component
        if key not in self._code:
            module = component.split(".")[0]
            text = (apply(fault, self._sources) if fault else self._sources)[module][1]
            scopes = [*(edit.within for edit in fault.edits), component] if fault else [component]
            wanted = [module] if module in scopes else dict.fromkeys(s for s in scopes if s.startswith(f"{module}."))
            parts = [definition(text, scope) for scope in wanted]
            self._code[key] = [compile(part, f"<{key}>", "exec", dont_inherit=True) for part in parts]
        return self._code[key]
