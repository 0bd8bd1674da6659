"""Plays a recorded test once more, with a faulty reference in the place of the submission.

The worker's own service answers the recorded requests, here in the grader's process, with trusted code. Only the
parameters differ: what the test wrote into the submission's is put into the reference's places by a recipe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Size, Tensor, nn
from torch.func import functional_call, vmap

from ..assignment.layouts.recipes import Recipe, fill_all, recipes
from ..sandbox.tape import Episode, Exchange
from ..sandbox.worker import stand_ins
from ..sandbox.worker.failures import describe
from ..sandbox.worker.objects import Held
from ..sandbox.worker.service import Service
from ..sandbox.worker.values import Decoder, Encoder, MalformedValue

CLOSE = {torch.float64: 1e-6, torch.float32: 1e-4}
"""Relative to 1 + size; correct code may compute a factor in float32."""

FIRST_VALUES_COUNT = ("layers.LayerNorm",)
"""Components whose contract says what their parameters are at first."""


@dataclass(frozen=True)
class Answer:
    """What came back of one request, without what depends on the layout.

    Attributes:
        error: the kind of the exception, or "".
        value: a tree of numbers and tensors.
        numbers: how many the object learns.
        gradient_size: the sum of squares of the gradients of all parameters.
    """

    error: str = ""
    value: object = None
    numbers: int = 0
    gradient_size: float = 0.0


class Components:
    """What the service takes for a submission's package: each component is made when it is asked for."""

    def __init__(self, make: Callable[[str], object]) -> None:
        """`make` gives the class or function of that name, among stand-ins."""
        self._make, self._made = make, {}

    def isolate(self, component: str | None) -> None:
        """Components are made in isolation."""

    def get(self, component: str) -> object:
        """The component; the same one each time."""
        if component not in self._made:
            self._made[component] = self._make(component)
        return self._made[component]


class Unplayable(Exception):
    """The episode cannot be compared: parameters that have no place, or an answer that cannot be read."""


class Numbered(dict):
    """Things under the numbers that the worker gave them."""

    next_number = 0

    def add(self, thing: object) -> int:
        """Keeps a thing under the next number."""
        self[self.next_number] = thing
        return self.next_number


class Rehearsal(Service):
    """Components of ours that answer what a submission was asked."""

    def __init__(self, make: Callable[[str], object], recipe: int, offset: int = 0) -> None:
        """Takes what makes components, the number of the recipe for parameters, and what is added to all seeds."""
        super().__init__(lambda sources: None, stand_ins)
        self._package, self._has_begun = Components(make), True
        self._objects, self._graphs = Numbered(), Numbered()
        self._recipe, self._offset = recipe, offset
        self._theirs: dict[int, list[Tensor]] = {}  # of each module: the submission's parameters
        self._candidates: dict[int, tuple[Recipe, ...]] = {}
        self._leaves: dict[int, int] = {}

    def play(self, exchange: Exchange) -> tuple[Answer, Answer]:
        """What the submission answered, and what this component does.

        Raises:
            Unplayable: see there.
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
            result = getattr(self, "do_" + request["verb"])(request, decoder, encoder)
        except (Unplayable, MalformedValue):
            raise
        except KeyError as error:
            if error.args and isinstance(error.args[0], int):  # an object of an episode that was cut
                raise Unplayable("an object that is not there") from None
            return theirs, Answer(error="KeyError")
        except Exception as error:
            return theirs, Answer(error=describe(error, frozenset())["kind"] or "Exception")
        mine = self._read(request, result, _Decoded(encoder.tensors, encoder.records))
        if replied is not None and request["verb"] == "build":
            self._adopt(reply["result"]["object"], request, replied.tensors)
        return theirs, mine

    def fitting(self, exchange: Exchange, stacks: dict[tuple[Size, ...], list[Tensor]]) -> list[int] | None:
        """Numbers of the recipes with which this call gives what the submission gave; all are tried at once.

        None where that cannot be told: no call of a submitted module, an error, or an answer that depends on chance.

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
            encoder = Encoder()
            results: dict[int, Tensor] = {}  # each once, as they are sent
            encoder.add = lambda tensor: results.setdefault(id(tensor), tensor)
            encoder.encode(functional_call(held.value, dict(zip(held.names, values, strict=True)), args, kwargs))
            return list(results.values())

        chance = torch.default_generator.get_state()
        with torch.no_grad():
            mine = vmap(call, randomness="different")(*stacks[places])
        if [m.shape[1:] for m in mine] != [t.shape for t in replied.tensors]:
            return []
        fits = torch.ones(len(candidates), dtype=torch.bool)
        for ours, theirs in zip(mine, replied.tensors, strict=True):
            error = (ours.double() - theirs.double()).abs() / (1 + theirs.double().abs())
            fits &= (error.nan_to_num(0.0).flatten(1) <= CLOSE.get(theirs.dtype, 1e-2)).all(dim=1)
        if not fits.any() and not torch.equal(chance, torch.default_generator.get_state()):
            return None
        return fits.nonzero().flatten().tolist()

    @property
    def count(self) -> int:
        """Of the recipes for the modules that were built."""
        return max(map(len, self._candidates.values()), default=1)

    def _read(self, request: dict, result: object, decoder: Decoder | _Decoded) -> Answer:
        """An answer of either side; what depends on the layout is left out."""
        verb = request["verb"]
        if verb == "call":
            value = decoder.decode(result["value"])
            self._expect_next(result["graph"])
            if result["graph"] is not None:
                self._leaves[result["graph"]] = sum("grad" in record for record in request["tensors"])
            return Answer(value=[value, result["changed"], result["graph"] is not None])
        if verb == "backward":
            leaves = self._leaves[request["graph"]]
            gradients = [None if index is None else decoder.tensors[index] for index in result]
            size = sum(float(g.double().square().sum()) for g in gradients[leaves:] if g is not None)
            return Answer(value=gradients[:leaves], gradient_size=size)
        self._expect_next(result["object"])
        pairs = zip(decoder.tensors, decoder.records, strict=True)
        frozen = sum(tensor.numel() for tensor, record in pairs if record.get("grad") is not True)
        value = [result["module"], frozen]
        if request.get("component") in FIRST_VALUES_COUNT:
            value.append(sorted(t.double().sum() / t.numel() for t in decoder.tensors if t.numel()))
        return Answer(value=value, numbers=sum(t.numel() for t in decoder.tensors))

    def _expect_next(self, number: int | None) -> None:
        if number is not None:
            self._objects.next_number = self._graphs.next_number = number

    def _adopt(self, number: int, request: dict, theirs: Sequence[Tensor]) -> None:
        """Puts the submission's first values into the places of ours."""
        held = self._objects[number]
        if held.is_submitted:
            self._theirs[number] = list(theirs)
            shapes = tuple(p.shape for p in held.parameters), tuple(p.shape for p in theirs)
            self._candidates[number] = candidates = recipes(*shapes, n_heads_of(request, held))
            if len(candidates) <= self._recipe:
                raise Unplayable("the parameters have no place")
            self._fill(number)

    def _fill(self, number: int) -> None:
        [values] = fill_all([self._candidates[number][self._recipe]], self._theirs[number])
        with torch.no_grad():
            for parameter, value in zip(self._objects[number].parameters, values, strict=True):
                parameter.copy_(value)

    def _catch_up(self, request: dict, decoder: Decoder) -> None:
        changed = set()
        for number, index, place in request["changed"]:
            if number in self._theirs:
                self._theirs[number][index] = decoder.tensors[place]
                changed.add(number)
            else:
                self._objects[number].parameters[index].data.copy_(decoder.tensors[place])
        for number in changed:
            self._fill(number)
        for number, is_training in request["modes"]:
            if isinstance(self._objects[number].value, nn.Module):
                self._objects[number].value.train(is_training)

    def _all_parameters(self, theirs: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
        """The parameters whose gradients are wanted: the same of stand-ins, all that are filled of the component."""
        wanted = [(number, index) for number, index in theirs if number not in self._theirs]
        for number in dict.fromkeys(number for number, _ in theirs if number in self._theirs):
            filled = self._candidates[number][self._recipe].filled
            parameters = self._objects[number].parameters
            wanted += [(number, i) for i in filled if parameters[i].requires_grad]
        return wanted

    def _seed(self, request: dict) -> None:
        super()._seed({"seed": request["seed"] + self._offset})


class _Decoded:
    """Tensors of our own answer, read as those of the submission's are."""

    def __init__(self, tensors: Sequence[Tensor], records: Sequence[dict]) -> None:
        self.tensors, self.records = tensors, records

    def decode(self, tree: object) -> object:
        decoder = Decoder([], b"")
        decoder.tensors = [tensor.detach() for tensor in self.tensors]
        return decoder.decode(tree)


def n_heads_of(request: dict, held: Held) -> int | None:
    """The heads of multi-headed attention, whose parameters may be cut up; None for all other components."""
    if not request["component"].endswith(".MultiHeadedAttention"):
        return None
    return getattr(held.value, "n_heads", None)


def components_of(episode: Episode) -> set[str]:
    """Which components of the submission a test has asked."""
    requests = [exchange.request for exchange in episode.exchanges]
    built = {request["component"] for request in requests if request["verb"] == "build"}
    return built | {request["target"].get("function", "") for request in requests if request["verb"] == "call"}


def has_answered(episode: Episode) -> bool:
    """Whether an object has answered a call in this test."""
    return any(
        exchange.request["verb"] == "call" and "object" in exchange.request["target"] and "error" not in exchange.reply
        for exchange in episode.exchanges
    )


def describe_inputs(episode: Episode) -> str:
    """The tensors of a test's last call: their shapes, and the numbers of small ones."""
    calls = [exchange for exchange in episode.exchanges if exchange.request["verb"] == "call"]
    if not calls:
        return ""
    tensors = Decoder(calls[-1].request["tensors"], calls[-1].body).tensors
    numbers = [f" = {[round(x, 3) for x in t.double().flatten().tolist()]}" if t.numel() <= 6 else "" for t in tensors]
    return ", ".join(f"{tuple(t.shape)}{number}" for t, number in zip(tensors, numbers, strict=True))[:400]


def is_same(mine: object, theirs: object) -> bool:
    """Whether two values agree but for rounding. Theirs may be anything that can be sent."""
    if isinstance(mine, Tensor) and isinstance(theirs, Tensor):
        if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
            return False
        if not mine.is_floating_point():
            return torch.equal(mine, theirs)
        tolerance = CLOSE.get(mine.dtype, 1e-2)
        return torch.allclose(theirs, mine, rtol=tolerance, atol=tolerance, equal_nan=True)
    if isinstance(mine, float) and isinstance(theirs, float):
        return abs(mine - theirs) <= 1e-5 * (1 + abs(mine)) or mine == theirs or (mine != mine and theirs != theirs)
    if isinstance(mine, (list, tuple)) and type(mine) is type(theirs):
        return len(mine) == len(theirs) and all(map(is_same, mine, theirs))
    return type(mine) is type(theirs) and mine == theirs
