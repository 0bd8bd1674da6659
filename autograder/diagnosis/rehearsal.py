"""Plays a recorded test once more, with a faulty reference in the place of the submission.

The worker's own executor answers the recorded requests, here in the grader's process, with trusted code. Its parameters
are the submission's: a recipe puts their values into the reference's places.

The reference's package is loaded once. Of a fault only the definitions that its patch touches are compiled, once,
and run in a copy of their module's names, where stand-ins are in the place of the other components.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

import torch
from torch import Size, Tensor, nn
from torch.func import functional_call, vmap

from foundation.assignment_file import Assignment

from ..assignment_code import stand_ins_of
from ..assignment_parts import layouts_of
from ..sandbox.session import Exchange
from ..sandbox.worker.failures import describe
from ..sandbox.worker.loading import Package
from ..sandbox.worker.messages import Decoder, Encoder, MalformedValueError
from ..sandbox.worker.service import Content, Executor
from ..sources import read_sources
from .answers import COARSE, TOLERANCES, Answer
from .catalogue import SEVERITIES, Fault, apply, definition, faults_of
from .recipes import Plan, Recipe, fill_all, recipes

MOST_FITTING = 3
"""Plans that are tried of those that explain a call."""
Make = Callable[[str], Callable[..., Any]]
"""Makes the class or function "module.Name" of our own that is asked in the submission's place."""


class OurComponents:
    """Takes the place of a submission's package: each component is made when it is first asked for."""

    def __init__(self, make: Make) -> None:
        """`make` gives the class or function of that name, among stand-ins."""
        self._make = make
        self._made: dict[str, Callable[..., Any]] = {}

    def isolate(self, component: str | None) -> None:
        """Does nothing: components are made in isolation."""

    def get(self, component: str) -> Callable[..., Any]:
        """The component; the same one each time."""
        if component not in self._made:
            self._made[component] = self._make(component)
        return self._made[component]


class CollectedTensors(Encoder):
    """An encoder that only lists the tensors of a value, each once: those under `vmap` cannot be copied."""

    def add(self, tensor: Tensor, **notes: object) -> int:
        """Lists a tensor and returns its index."""
        for index, known in enumerate(self.tensors):
            if known is tensor:
                return index
        self.tensors.append(tensor)
        return len(self.tensors) - 1


MAKING = ("build", "stand_in")
"""Requests that make an object."""


class UnplayableError(Exception):
    """The episode cannot be compared: parameters that have no place, or an answer that cannot be read."""


def is_matrix(tensor: Tensor) -> bool:
    """Whether it has at least two axes that are longer than one."""
    return sum(size > 1 for size in tensor.shape) >= 2


class Rehearsal:
    """Components of ours that answer what a submission was asked."""

    def __init__(self, workshop: Workshop, make: Make, plan: Plan | None, offset: int = 0) -> None:
        """Makes the components that a recorded test asks for.

        Args:
            workshop: with the assignment's stand-ins, and its ways to read parameters.
            make: makes components.
            plan: for parameters; None, or where it does not fit: the most natural recipe.
            offset: added to all seeds.
        """
        self._workshop = workshop
        self._executor = Executor(OurComponents(make), workshop.stand_ins, seed_offset=offset)
        self._objects = self._executor.objects
        self._plan = plan
        self._chosen: dict[int, Recipe] = {}
        self._guessed: set[int] = set()  # modules in which the plan does not fit
        self._theirs: dict[int, list[Tensor]] = {}  # of each module: the submission's parameters
        self._candidates: dict[int, tuple[Recipe, ...]] = {}
        self._leaves: dict[int, int] = {}  # of each graph: how many of its inputs are arguments

    def play(self, exchange: Exchange) -> tuple[Answer, Answer]:
        """The submission's answer, and the answer of this component.

        Raises:
            UnplayableError: see there.
            TimeoutError: where a time limit strikes.
        """
        request, reply = dict(exchange.request), exchange.reply
        if "error" in reply:
            theirs, replied = Answer(error=reply["error"]["kind"] or "Exception"), None
        else:
            replied = Decoder(reply["tensors"], exchange.reply_body)
            theirs = self._read(request, reply["result"], replied)
        encoder = Encoder()
        try:
            decoder = Decoder(request["tensors"], exchange.body, lambda number: self._objects[number].value)
            self._catch_up(request, decoder)
            if request["verb"] == "call":
                request["parameters"] = self._all_parameters(request["parameters"])
            result = self._executor.do(request, decoder, encoder)
        except (UnplayableError, MalformedValueError, TimeoutError):
            raise
        except KeyError as error:
            if error.args and isinstance(error.args[0], int):  # an object of an episode that was cut
                raise UnplayableError("an object that is not there") from None
            return theirs, Answer(error="KeyError")
        except Exception as error:
            return theirs, Answer(error=describe(error, frozenset())["kind"] or "Exception")
        mine = self._read(request, result, Decoder.of_tensors([t.detach() for t in encoder.tensors], encoder.records))
        if replied is not None and request["verb"] == "build":
            self._adopt(request["id"], request, replied.tensors)
        return theirs, mine

    def fitting(self, exchange: Exchange, stacks: dict[tuple[Size, ...], list[Tensor]]) -> list[Plan] | None:
        """Plans with which this call gives the submission's answer, after the most natural one; all are tried at once.

        None where nothing follows: no call of a submitted module, an error, or an answer that depends on chance.

        Args:
            exchange: the call.
            stacks: for the shapes of our parameters, their values by all recipes; filled here, for the next fault.
        """
        request, reply = exchange.request, exchange.reply
        number = request["target"].get("object") if request["verb"] == "call" else None
        if number not in self._theirs or request["target"]["method"] != "forward" or "error" in reply:
            return None
        decoder = Decoder(request["tensors"], exchange.body, lambda number: self._objects[number].value)
        args, kwargs = decoder.decode(request["args"]), decoder.decode(request["kwargs"])
        replied = Decoder(reply["tensors"], exchange.reply_body)
        replied.decode(reply["result"]["value"])
        self._catch_up(request, decoder)
        held, candidates = self._objects[number], self._candidates[number]
        places = tuple(parameter.shape for parameter in held.parameters)
        if places not in stacks:
            filled = fill_all(candidates, self._theirs[number])
            columns = [torch.stack(column) for column in zip(*filled, strict=True)]
            stacks[places] = [column.to(p.dtype) for column, p in zip(columns, held.parameters, strict=True)]

        def call(*values: Tensor) -> list[Tensor]:
            collected = CollectedTensors()
            collected.encode(functional_call(held.value, dict(zip(held.names, values, strict=True)), args, kwargs))
            return collected.tensors

        chance = torch.default_generator.get_state()
        with torch.no_grad():
            mine = vmap(call, randomness="different")(*stacks[places])
        if [m.shape[1:] for m in mine] != [t.shape for t in replied.tensors]:
            return [candidates[0].plan]
        fits = torch.ones(len(candidates), dtype=torch.bool)
        for ours, theirs in zip(mine, replied.tensors, strict=True):
            error = (ours.double() - theirs.double()).abs() / (1 + theirs.double().abs())
            fits &= (error.nan_to_num(0.0).flatten(1) <= TOLERANCES.get(theirs.dtype, COARSE)).all(dim=1)
        if not fits.any() and not torch.equal(chance, torch.default_generator.get_state()):
            return None
        numbers = fits.nonzero().flatten().tolist()[:MOST_FITTING]
        return [candidates[number].plan for number in sorted({0, *numbers})]

    def is_guess(self, exchange: Exchange) -> bool:
        """Whether the answer may differ only because nobody knows where the parameters of this object belong."""
        if exchange.request["verb"] == "backward":  # from whatever it was
            return bool(self._guessed)
        target = exchange.request.get("target", {})
        return bool(self._guessed & {target.get("object"), target.get("subject")})

    def plans(self, most: int) -> list[Plan]:
        """Plans for the module that was built and has the most."""
        return [recipe.plan for recipe in max(self._candidates.values(), key=len, default=())[:most]]

    def _read(self, request: Content, result: Any, decoder: Decoder) -> Answer:
        """An answer of either side; whatever depends on the layout is left out."""
        verb = request["verb"]
        if verb == "call":
            value = decoder.decode(result["value"])
            if result["graph"]:
                self._leaves[request["id"]] = sum("grad" in record for record in request["tensors"])
            return Answer(value=[value, result["changed"], result["graph"]])
        if verb == "backward":
            leaves = self._leaves[request["graph"]]
            gradients = [None if index is None else decoder.tensors[index] for index in result]
            size = sum(float(g.double().square().sum()) for g in gradients[leaves:] if g is not None)
            return Answer(value=gradients[:leaves], gradient_size=size)
        pairs = zip(decoder.tensors, decoder.records, strict=True)
        frozen = sum(tensor.numel() for tensor, record in pairs if record.get("grad") is not True)
        value = [result["module"], frozen]
        if request.get("component", "").partition(".")[2] in self._workshop.initialised:
            value.append(sorted(t.double().sum() / t.numel() for t in decoder.tensors if t.numel()))
        matrices = [t.double().flatten() for t in decoder.tensors if is_matrix(t)]
        size = float(torch.cat(matrices).square().mean().sqrt()) if matrices else 0.0
        return Answer(value=value, numbers=sum(t.numel() for t in decoder.tensors), first_size=size)

    def _adopt(self, number: int, request: Content, theirs: Sequence[Tensor]) -> None:
        """Puts the submission's first values into the places of ours."""
        held = self._objects[number]
        if held.is_submitted:
            self._theirs[number] = list(theirs)
            shapes = tuple(p.shape for p in held.parameters), tuple(p.shape for p in theirs)
            readings = self._workshop.readings(request["component"], held.value, *shapes)
            self._candidates[number] = candidates = recipes(*shapes, readings)
            chosen = self._plan and self._plan.adapted(*shapes, readings)
            if not chosen and not candidates:
                raise UnplayableError("the parameters have no place")
            self._chosen[number] = chosen or candidates[0]
            if self._plan and not chosen:
                self._guessed.add(number)
            self._fill(number)

    def _fill(self, number: int) -> None:
        [values] = fill_all([self._chosen[number]], self._theirs[number])
        with torch.no_grad():
            for parameter, value in zip(self._objects[number].parameters, values, strict=True):
                parameter.copy_(value)

    def _catch_up(self, request: Content, decoder: Decoder) -> None:
        """Takes over what has changed in objects since the last request; those of earlier tests are not here."""
        changed = set()
        for number, index, place in request["changed"]:
            if number in self._theirs:
                self._theirs[number][index] = decoder.tensors[place]
                changed.add(number)
            elif number in self._objects:
                self._objects[number].parameters[index].data.copy_(decoder.tensors[place])
        for number in changed:
            self._fill(number)
        for number, is_training in request["modes"]:
            if number in self._objects and isinstance(self._objects[number].value, nn.Module):
                self._objects[number].value.train(is_training)

    def _all_parameters(self, theirs: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
        """The parameters whose gradients are wanted: the same of stand-ins, all that are filled of the component."""
        wanted = [(number, index) for number, index in theirs if number not in self._theirs]
        for number in dict.fromkeys(number for number, _ in theirs if number in self._theirs):
            filled = self._chosen[number].filled
            parameters = self._objects[number].parameters
            wanted += [(number, i) for i in filled if parameters[i].requires_grad]
        return wanted


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
