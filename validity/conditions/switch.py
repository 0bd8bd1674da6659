"""A component that is right unless a condition holds, and then has a fault: what stands in the sources of a proof.

Where the condition holds, both run, and what they compute is compared: a fault that changes nothing there cannot be
found by any test. What is seen is told to the observers of the tests' comparisons.
"""

import copy
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from autograder.assignment_code import conditions_of
from autograder.testing import comparison
from foundation.assignment_file import read_assignment

HELD = "the condition held"
"""In place of what was compared; the error is 1 where the fault made a difference, 0 where not."""

METHODS = ("forward", "encode", "decode", "get_predictions")
CLOSE = 1e-7


def tell(differs: bool) -> None:
    """Notes that the condition held."""
    for observer in comparison.observers:
        observer(HELD, float(differs), 2.0)


def bind(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name, defaults included; none where they do not fit."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return {}
    bound.apply_defaults()
    return {name: value for name, value in bound.arguments.items() if name != "self"}


def conditional(right: Any, faulty: Any, component: str, condition: str, assignment: str) -> Any:
    """The component with the fault under the condition.

    Args:
        right: class or function without the fault.
        faulty: the same with it.
        component: "module.Name".
        condition: its name.
        assignment: path of the file of the assignment that has the condition.
    """
    conditions = conditions_of(read_assignment(assignment))
    if conditions is None:
        raise LookupError(f"{assignment}: the assignment has no conditions")
    holds = conditions.CONDITIONS[condition].holds
    make = of_class if isinstance(right, type) else of_function
    return make(right, faulty, functools.partial(conditions.Moment, component), _careful(holds))


def _careful(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A condition does not hold for a call that lacks what it asks about."""

    def answer(moment: Any) -> bool:
        try:
            return bool(holds(moment))
        except (KeyError, IndexError, AttributeError, TypeError, StopIteration, RuntimeError):
            return False

    return answer


def of_function(right: Any, faulty: Any, moment_of: Callable[..., Any], holds: Callable[[Any], bool]) -> Any:
    """A function with the fault under the condition."""
    calls: list[dict[str, Any]] = []

    @functools.wraps(right)
    def chosen(*args: Any, **kwargs: Any) -> Any:
        bound = bind(right, args, kwargs)
        last = calls[-1] if calls else None
        moment = moment_of({}, bound, None, len(calls), last)
        calls[:] = [*calls[-1:], {name: _kept(value) for name, value in bound.items()}]
        if not holds(moment):
            return right(*args, **kwargs)
        if "model" in bound:
            return _compared_on_model(right, faulty, bound)
        return _compared(right, faulty, args, kwargs, [])

    return chosen


def _kept(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, Tensor) else None


def of_class(right: Any, faulty: Any, moment_of: Callable[..., Any], holds: Callable[[Any], bool]) -> Any:
    """A class with the fault under the condition.

    Each object has a twin with the fault, which shares its parameters by name and is asked where the condition holds.
    """
    always = watched(right, faulty)

    class Chosen(right):  # type: ignore[misc]  # its base is a submission's
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            settings = bind(right.__init__, (None, *args), kwargs)
            if settings and holds(moment_of(settings, {})):  # its settings tell: faulty altogether
                return always(*args, **kwargs)
            return super().__new__(cls)

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            chance = torch.default_generator.get_state()
            make = functools.partial(faulty, *args, **kwargs)
            settings = bind(right.__init__, (None, *args), kwargs)
            self.__dict__["_history"] = {"twin": _attempt(make), "make": make, "settings": settings, "born": id(self)}
            torch.default_generator.set_state(chance)
            self.register_load_state_dict_post_hook(lambda module, _: vars(module)["_history"].update(loaded=True))

    for name in METHODS:
        if hasattr(right, name):
            setattr(Chosen, name, _method(name, right, moment_of, holds))
    return _named_as(Chosen, right)


def watched(right: Any, faulty: Any) -> Any:
    """The faulty class; the calls of its objects are compared with those of a right twin with the same parameters."""

    class Watched(faulty):  # type: ignore[misc]  # its base is a submission's
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            chance = torch.default_generator.get_state()
            twin = right(*args, **kwargs)
            torch.default_generator.set_state(chance)
            try:
                super().__init__(*args, **kwargs)
            except Exception:
                tell(True)
                raise
            self.__dict__["_twin"] = [twin]
            tell([*map(_kind, self.named_parameters())] != [*map(_kind, twin.named_parameters())])

    def method(name: str) -> Callable[..., Any]:
        function = getattr(faulty, name)

        @functools.wraps(function)
        def compared(self: Any, *args: Any, **kwargs: Any) -> Any:
            [twin] = vars(self)["_twin"]
            share_parameters(twin, self)
            whole = functools.partial(function, self)
            return _compared(getattr(twin, name), whole, args, kwargs, list(self.parameters()))

        return compared

    for name in METHODS:
        if hasattr(faulty, name):
            setattr(Watched, name, method(name))
    return _named_as(Watched, right)


def _named_as(made: Any, right: Any) -> Any:
    made.__name__, made.__qualname__, made.__module__ = right.__name__, right.__qualname__, right.__module__
    return made


def _kind(named: tuple[str, nn.Parameter]) -> tuple[Any, ...]:
    name, parameter = named
    return name, parameter.shape, parameter.requires_grad


def _method(name: str, right: Any, moment_of: Callable[..., Any], holds: Callable[[Any], bool]) -> Any:
    function = getattr(right, name)

    @functools.wraps(function)
    def chosen(self: Any, *args: Any, **kwargs: Any) -> Any:
        history = vars(self)["_history"]
        bound = bind(function, (self, *args), kwargs)
        weights = [parameter.detach().clone() for parameter in self.parameters()]
        first = history.setdefault("weights", weights)
        moment = moment_of(
            history["settings"],
            bound,
            self,
            history.get(f"calls of {name}", 0),
            history.get(f"last of {name}"),
            history["born"] != id(self),
            history.get("loaded", False),
            any(map(_differ, weights, first)),
        )
        history[f"calls of {name}"] = history.get(f"calls of {name}", 0) + 1
        history[f"last of {name}"] = {key: _kept(value) for key, value in bound.items()}
        if not bound or not holds(moment):
            return function(self, *args, **kwargs)
        [twin] = history["twin"]
        if isinstance(twin, Exception):
            tell(True)
            history["make"]()  # fails again, in code of the submission
            raise twin
        share_parameters(twin, self)
        whole = functools.partial(function, self)
        return _compared(whole, getattr(twin, name), args, kwargs, list(self.parameters()))

    return chosen


def _attempt(make: Callable[[], Any]) -> list[Any]:
    """What is made, or the exception instead; in a list, where PyTorch does not look for modules."""
    try:
        return [make()]
    except Exception as error:
        return [error]


def share_parameters(twin: nn.Module, module: nn.Module) -> None:
    """The twin gets the module's parameters wherever names and shapes agree, its dtype and its mode."""
    own = dict(module.named_parameters(remove_duplicate=False))
    dtype = next((parameter.dtype for parameter in own.values()), None)
    if dtype is not None:
        twin.to(dtype)
    for prefix, part in twin.named_modules(remove_duplicate=False):
        for name, parameter in list(part._parameters.items()):
            other = own.get(f"{prefix}.{name}".removeprefix("."))
            if other is not None and parameter is not None and other.shape == parameter.shape:
                part._parameters[name] = other
    twin.train(module.training)


def _compared(
    right: Callable[..., Any], faulty: Callable[..., Any], args: Any, kwargs: Any, parameters: list[Tensor]
) -> Any:
    """What the faulty one returns; says whether the right one would have returned something else."""
    chance = torch.default_generator.get_state()
    mine, theirs = _copied((args, kwargs)), (args, kwargs)
    try:
        wanted = right(*mine[0], **mine[1])
        torch.default_generator.set_state(chance)
        got = faulty(*args, **kwargs)
    except Exception:
        tell(True)
        raise
    sides = [[*_tensors(side), *_tensors(inputs)] for side, inputs in ((wanted, mine), (got, theirs))]
    differs = len(sides[0]) != len(sides[1]) or any(map(_differ, *sides))
    if not differs and torch.is_grad_enabled():
        ends = ((wanted, mine), (got, theirs))
        gradients = [_gradients(_tensors(side), [*_tensors(inputs), *parameters]) for side, inputs in ends]
        differs = any(map(_differ, *gradients))
    tell(differs)
    return got


def _compared_on_model(right: Callable[..., Any], faulty: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """As `_compared`, for functions that change the model, and what else they are given; the right one gets copies."""
    bound = dict(given)
    is_iterator = isinstance(bound.get("batches"), Iterator)  # it can be read once, so both get one over a list
    if is_iterator:
        bound["batches"] = list(bound["batches"])
    try:
        others = copy.deepcopy(bound)
    except Exception:  # batches that cannot be copied: nothing is known
        tell(True)
        return faulty(**bound)
    mine, theirs = dict(others), dict(bound)
    if is_iterator:
        mine["batches"], theirs["batches"] = iter(others["batches"]), iter(bound["batches"])
    chance = torch.default_generator.get_state()
    try:
        wanted = right(**mine)
        torch.default_generator.set_state(chance)
        got = faulty(**theirs)
    except Exception:
        tell(True)
        raise
    sides = [_state(given, returned) for given, returned in ((others, wanted), (bound, got))]
    tensors = [[value for value in side if isinstance(value, Tensor)] for side in sides]
    rest = [[value for value in side if not isinstance(value, Tensor)] for side in sides]
    tell(rest[0] != rest[1] or len(tensors[0]) != len(tensors[1]) or any(map(_differ, *tensors)))
    return got


def _state(given: Mapping[str, Any], returned: Any) -> list[Any]:
    """All that shows after a call: the result, the model's parameters and mode, the batches, the learning rate."""
    model, optimizer, batches = given["model"], given.get("optimizer"), given.get("batches")
    found: list[Any] = [torch.tensor(returned) if isinstance(returned, float) else returned, model.training]
    found += list(model.parameters())
    found += [group["lr"] for group in optimizer.param_groups] if optimizer is not None else []
    for batch in batches if isinstance(batches, list) else []:
        found += vars(batch).values()
    return found


def _copied(value: Any, known: dict[int, Tensor] | None = None) -> Any:
    """A copy of arguments: one that comes twice is one object; what was computed before leads back as it did."""
    known = {} if known is None else known
    if isinstance(value, Tensor):
        if id(value) not in known:
            is_result = value.requires_grad and not value.is_leaf and torch.is_grad_enabled()
            known[id(value)] = (
                value.clone() if is_result else value.detach().clone().requires_grad_(value.requires_grad)
            )
        return known[id(value)]
    if isinstance(value, (tuple, list)):
        return type(value)(_copied(item, known) for item in value)
    if isinstance(value, dict):
        return {key: _copied(item, known) for key, item in value.items()}
    return value.clone_state() if isinstance(value, torch.Generator) else value


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(tuple(value.values()))


def _gradients(outputs: Iterator[Tensor], inputs: list[Tensor]) -> list[Tensor]:
    """Gradients of some product of the outputs; zeros where nothing leads back."""
    ends = [tensor for tensor in outputs if tensor.requires_grad]
    leaves = [tensor for tensor in inputs if tensor.requires_grad]
    if not ends or not leaves:
        return [torch.zeros_like(leaf) for leaf in leaves]
    total = torch.stack([(end * torch.linspace(-1, 2, end.numel()).view_as(end)).sum().double() for end in ends]).sum()
    found = torch.autograd.grad(total, leaves, retain_graph=True, allow_unused=True)
    return [torch.zeros_like(leaf) if one is None else one for one, leaf in zip(found, leaves, strict=True)]


def _differ(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype or one.requires_grad != other.requires_grad:
        return True
    if not one.is_floating_point():
        return not torch.equal(one, other)
    first, second = one.detach().double(), other.detach().double()
    error = ((first - second).abs() / (1 + first.abs())).nan_to_num(nan=torch.inf)
    return one.numel() > 0 and float(error.max()) > (1e-4 if one.dtype == torch.float32 else CLOSE)
