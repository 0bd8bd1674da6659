"""How component tests are written: read this first.

A test names a call, and the parts of its result that it judges. The right result is computed
independently, most often by PyTorch's own function:

    subject = Subject(the student's function, ["context", "weights"], [formula])
    subject.expect_values({"query": q, "key": k, "value": v, "mask": None}, "where to look", of=["context"])

- `expect_values`: for these inputs the component returns what the formula gives. float64 inputs are handed over as they
  are; float32 inputs as in a model that translates: without gradients, all but the first by name, and laid out as
  after a transpose.
- `expect_gradients`: the gradients of all inputs and parameters are the formula's, and those of parameters are not zero
  (`nonzero=[]`: each may be). Where values are wrong anyway, they need only be those of what the component computes.
- `side_effects.expect_no_side_effects`: calls leave their arguments, each other, what they returned earlier and the
  program's settings alone.

`assignment/expected/masks.py` has two more, in which wrong values that cost another item cost nothing again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn

from .arguments import (
    CONVERTED,
    MIXED,
    STATE,
    call_with_copies,
    copies_of,
    copy_of,
    describe,
    explain,
    sizes_of,
    traits_of,
)
from .case import Case, Inputs
from .comparison import NEGLIGIBLE, alike, all_equal, expect_gradients, expect_parts
from .contrast import note
from .experiments import attempted, look
from .fitting import (
    CALL_FAILED,
    Candidates,
    Computation,
    Pair,
    are_alike,
    compare_gradients,
    compare_part,
    expect_own_gradients,
    first_part,
    leaf_for,
    nearest,
    tensors_in,
)
from .idle import is_mostly_idle
from .observation import agreement, observe
from .results import CheckFailed, OtherPartsError, UnreadableError


@dataclass(frozen=True)
class Subject:
    """A component that is tested.

    Its methods take `inputs`, the arguments of a call by name; `look_at`, a hint for whoever fails; and `of`, the parts
    that the test is about, by default all.
    """

    call: Any  # a function or a module of the submission
    parts: Sequence[str]  # names of what it returns, in order; a list of tensors is one part
    formulas: Candidates  # what it may compute, each of float64 inputs; or why none can be found
    parameters: Sequence[tuple[Tensor, Tensor]] = ()  # each with a float64 copy with which the formulas compute
    dtype: torch.dtype | None = None  # of the results, where no input has it
    any_dtype: bool = field(default=False, kw_only=True)  # also results of another dtype than the inputs are judged
    needs_most_parts: bool = field(default=False, kw_only=True)  # where it is wrong, to be judged by what it computes
    is_slow: bool = field(default=False, kw_only=True)  # formulas call the submission: nothing is looked at closer
    without_dropout: Callable[..., Any] | None = field(default=None, kw_only=True)  # the same call
    inside: Callable[[Inputs], str] | None = field(default=None, kw_only=True)  # the mistake in its parts,
    if_parts_are_right: str = field(default="", kw_only=True)  # or this without any

    def expect_values(
        self,
        inputs: Inputs,
        look_at: str = "",
        of: Sequence[str] = (),
        *,
        judged_where: Tensor | None = None,
        contiguous: bool = False,
        case: Case | None = None,
    ) -> None:
        """Fails unless these parts, or all, are those of a formula.

        `judged_where` is 1 where they count and 0 where they may be anything finite. With `contiguous`, float32 inputs
        are laid out as they come, not as after a transpose. A `case` draws a sum of results whose gradients are
        compared, too.
        """
        with self.judged(inputs, "values" if case is None else "gradients", of):
            returned, leaves, pairs = self._try(inputs, case is not None, contiguous, of)
            right = self._judge(returned, leaves, inputs, look_at, of, judged_where)
            if case is not None:
                compare_gradients(returned[self.parts[0]], right[self.parts[0]], judged_where, pairs, case, look_at)

    def expect_gradients(
        self,
        case: Case,
        inputs: Inputs,
        look_at: str = "",
        of: Sequence[str] = (),
        nonzero: Iterable[Tensor] | None = None,
    ) -> None:
        """Fails unless the gradients of all inputs and parameters are right; the case draws what is differentiated.

        Where the values are wrong even without gradients, these need only be those of what the component computes, if
        it has most of the parts that it should have. Those of the parameters in `nonzero` must not be zero; None = of
        all to which the formula gives one, and there must be some. Other parts may be missing.
        """
        parameters = [parameter for parameter, _ in self.parameters]
        with self.judged(inputs, "gradients", of):
            returned, leaves, pairs = self._try(inputs, with_gradients=True, of=of)
            try:
                right = self._judge(returned, leaves, inputs, look_at, of)
            except CheckFailed:
                has_parts = not isinstance(self.formulas, Exception) and bool(self.formulas)
                if not (has_parts or isinstance(self.formulas, OtherPartsError)) or self.is_right(inputs, of):
                    raise
                if is_mostly_idle(self, inputs):
                    raise
                given = [got for _, got, _ in pairs[: len(inputs)]]
                expect_own_gradients(
                    lambda moved: first_part(call_with_copies(self.call, moved), self.parts), given, parameters, case
                )
                return
            compare_gradients(returned[self.parts[0]], right[self.parts[0]], None, pairs, case, look_at)
        # The formula itself may give none: to a word that does not occur, or to a bias that softmax takes away.
        gradients = [(parameter, leaf.grad) for parameter, leaf in self.parameters]
        used = [p for p, gradient in gradients if gradient is None or bool((gradient.abs() > NEGLIGIBLE).any())]
        judged = used if nonzero is None else list(nonzero)
        if judged or nonzero is None:
            expect_gradients(judged, "the gradients of the parameters", look_at)

    def is_right(self, inputs: Inputs, of: Sequence[str] = (), contiguous: bool = False) -> bool:
        """Return True if `expect_values` would pass."""
        try:
            with self.judged(inputs, "values", of, is_explained=False):
                returned, leaves, _ = self._try(inputs, with_gradients=False, contiguous=contiguous, of=of)
                self._judge(returned, leaves, inputs, "", of)
        except (CheckFailed, *CALL_FAILED) as error:
            if isinstance(error, NotImplementedError):  # nothing is written yet
                raise
            return False
        return True

    def first(self, inputs: Inputs) -> Tensor | None:
        """Call it without gradients; return the first of what it returns, if that is a tensor."""
        with torch.no_grad():
            first = first_part(self.call(*copies_of(inputs.values())), self.parts)
        return first if isinstance(first, Tensor) else None

    def works(self, inputs: Inputs) -> bool:
        """Return True if a call with these inputs returns something."""
        try:
            with torch.no_grad():
                self.call(*copies_of(inputs.values()))
        except CALL_FAILED as error:
            if isinstance(error, NotImplementedError):
                raise
            return False
        return True

    def train_unless_random(self, inputs: Inputs) -> None:
        """Put the module into train mode, unless what it drops there makes calls with these inputs random."""
        self.call.train()
        self.call.train(not self.is_random(inputs))

    def is_same_in_train_mode(self, inputs: Inputs, module: nn.Module | None = None) -> bool:
        """Return True if it computes the same in train mode, which it has afterwards; `module` is a function's."""
        if not self.works(inputs):
            return False
        results = []
        for is_training in (False, True):
            (module or self.call).train(is_training)
            results.append(self.first(inputs))
        first, second = results
        return first is not None and second is not None and alike(first, second)

    def is_random(self, inputs: Inputs) -> bool:
        """Return True if equal calls return different results; where they fail, they do not."""
        with torch.no_grad(), suppress(*CALL_FAILED):
            # Dropout spares all of a small result now and then.
            first, *others = (tensors_in(self.call(*copies_of(inputs.values()))) for _ in range(5))
            return not all(all_equal(first, other) for other in others)
        return False

    @contextmanager
    def judged(
        self, inputs: Inputs, kind: str = "", of: Sequence[str] = (), is_explained: bool = True
    ) -> Iterator[None]:
        """A block whose failures name the inputs, and whose errors of mixed dtypes are explained.

        Whether these parts were right is noted for the contrast of calls of one kind; "" = it is not.
        """
        is_right = False
        try:
            yield
            is_right = True
        except CheckFailed as error:
            if error is not self.formulas:  # else another call has failed, with inputs of its own
                error.inputs = ", ".join(describe(name, value) for name, value in inputs.items())
                if error.compared and error.part and error.look_at != STATE and not self.is_slow:
                    error.experiment = partial(self._look, inputs, error.part, is_thorough=not error.observed)
            if (inside := self.inside) and kind and not error.compared:
                error.experiment = partial(attempted, partial(inside, inputs))
            raise
        except UnreadableError:
            kind = ""
            raise
        except Exception as error:
            if is_explained and not isinstance(error, NotImplementedError):
                explain(error, inputs, self.inside if kind else None, MIXED if self.parameters else CONVERTED)
            raise
        finally:
            if kind:
                dtype = str(self._dtype_for(inputs)).removeprefix("torch.")
                without = ", without gradients" if kind == "values" and dtype == "float32" else ""
                traits = [*traits_of(inputs, self.call), f"in {dtype}{without}"]
                note(traits, sizes_of(inputs), is_right=is_right, kind=f"{kind} of {', '.join(of or self.parts)}")

    def _look(self, inputs: Inputs, part: str, is_thorough: bool) -> str:
        """Return what more calls show of a part that is wrong for these inputs, for `CheckFailed.look_closer`."""
        single = self._dtype_for(inputs) == torch.float32

        def call(given: Inputs) -> Tensor:
            handed = {name: copy_of(value, False, not single) for name, value in given.items()}
            return cast("Tensor", self._parts(self.call(*handed.values()), [part])[part])

        def compute(formula: Computation, given: Inputs) -> Tensor:
            result = formula(*[leaf_for(value) for value in given.values()])
            return cast("Tensor", dict(zip(self.parts, result if len(self.parts) > 1 else [result], strict=True))[part])

        formulas = [] if isinstance(self.formulas, Exception) else self.formulas
        learned = [parameter for parameter, _ in self.parameters]
        candidates = [partial(compute, formula) for formula in formulas]
        text = look(call, candidates, inputs, self.call, learned, self.inside, is_thorough)
        is_sure = self.inside is not None and not getattr(self.call, "training", False)
        return text or self.if_parts_are_right * (is_sure and is_thorough)

    def _dtype_for(self, inputs: Inputs) -> torch.dtype | None:
        """The dtype of the results: by default that of the first input of floats."""
        return self.dtype or next((v.dtype for v in inputs.values() if v is not None and v.is_floating_point()), None)

    def _try(
        self, inputs: Inputs, with_gradients: bool, contiguous: bool = False, of: Sequence[str] = ()
    ) -> tuple[dict[str, Any], list[Tensor | None], list[Pair]]:
        """Call the component; return its result by part, the arguments for formulas, and pairs to compare gradients of.

        With gradients, the first float32 input needs none, like the vectors of a frozen embedding. Without, float32
        comes as in a model that translates.
        """
        is_single = self._dtype_for(inputs) == torch.float32
        is_plain = with_gradients or contiguous or not is_single
        given = {name: copy_of(value, with_gradients, is_plain) for name, value in inputs.items()}
        leaves = [leaf_for(value, with_gradients) for value in inputs.values()]
        first, *others = given
        if is_single and not with_gradients:
            with torch.inference_mode():
                result = self.call(given[first], **{name: given[name] for name in others})
            return self._parts(result, of), leaves, []
        for tensor in (given[first], leaves[0]) if is_single else ():
            if tensor is not None:
                tensor.requires_grad_(False)
        pairs = [(f"the gradient of {name}", given[name], leaf) for name, leaf in zip(given, leaves, strict=True)]
        pairs += [("the gradient of a parameter", got, leaf) for got, leaf in self.parameters]
        return self._parts(call_with_copies(self.call, list(given.values())), of), leaves, pairs

    def _parts(self, result: Any, of: Sequence[str] = ()) -> dict[str, Any]:
        """Return a result by part; in a test about the first part, the others may be missing."""
        is_complete = isinstance(result, (tuple, list)) and len(result) == len(self.parts)
        if list(of) == list(self.parts[:1]) and not is_complete:
            return {self.parts[0]: first_part(result, self.parts)}
        returned = [result] if len(self.parts) == 1 else expect_parts(result, self.parts, "what is returned")
        return dict(zip(self.parts, returned, strict=True))

    def _judge(
        self,
        returned: Mapping[str, Any],
        leaves: Sequence[Tensor | None],
        inputs: Inputs,
        look_at: str,
        of: Sequence[str] = (),
        judged_where: Tensor | None = None,
    ) -> dict[str, Any]:
        """Fails unless what was returned fits a formula, whose results it returns by part.

        Of several failures, it raises the one of which something was observed. Of the context, weights may show more.
        """
        if not set(of) <= set(self.parts):
            raise ValueError(f"of {of}: expected some of {self.parts}")
        if isinstance(self.formulas, Exception):
            raise self.formulas
        dtype, judged = self._dtype_for(inputs), of or self.parts
        right = nearest(self.parts, returned, self.formulas, leaves, judged, judged_where)

        def failures(parts: Iterable[str], where: Tensor | None) -> Iterator[tuple[str, str, CheckFailed]]:
            for part in parts:
                try:
                    compare_part(returned[part], right[part], part, look_at, dtype, where, self.any_dtype)
                except CheckFailed as error:
                    compared = None if error.look_at == STATE else error.compared
                    yield observe(*compared, inputs) if compared else "", part, error

        if missed := list(failures(judged, judged_where)):
            text, part, error = max(missed, key=lambda failure: failure[0])
            others = list(failures(set(returned) - {*judged}, None))
            result = returned[part]
            swapped = [name for name in right if name != part and are_alike(result, right[name])]
            if swapped:
                error.observed = f"this is what {swapped[0]} should be"
            elif error.compared:  # of what has another shape, values elsewhere tell nothing
                text = text or max((f"in {other}: {seen}" for seen, other, _ in others if seen), default="")
                error.observed = text or agreement(*error.compared)
            error.part = part
            if not isinstance(self.call, nn.Module):  # parts of these hand on what stand-ins return
                right_too = returned.keys() - {*judged, *(other for _, other, _ in others)}
                error.beside = "".join(f"; {name} are as expected" for name in right if name in right_too)
            raise error
        return right

    def expect_result(self, result: Any, inputs: Inputs, look_at: str = "") -> None:
        """Fails unless a call with these inputs may return this."""
        with self.judged(inputs):
            self._judge(self._parts(result), [leaf_for(value) for value in inputs.values()], inputs, look_at)
