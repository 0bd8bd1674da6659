"""How component tests are written: read this first.

A test says what is called with what, and which parts of the result it judges. What must come out is computed
independently, most often by PyTorch's own function:

    subject = Subject(the student's function, ["context", "weights"], [formula])
    subject.expect_values({"query": q, "key": k, "value": v, "mask": None}, "where to look", of=["context"])

- `expect_values`: for these inputs the component returns what the formula gives. float64 inputs are handed over as they
  are; float32 inputs as in a model that translates: by name, without gradients, and laid out as after a transpose.
- `expect_gradients`: so are the gradients of all inputs and parameters.
- `expect_no_side_effects`: calls leave their arguments and each other alone, and what they returned earlier.
- `expect_right_or_mask_obeyed`, `expect_right_or_finite` (of attention): the first part is what the formula gives.
  Where it is wrong without a mask, or with usual numbers, too, it need only obey the mask, or be finite.

Each test belongs to one item of the rubric, which its mark names: `item("gradients")`. One mistake should cost one
item, so a test that is not about values compares the component with itself where its values are wrong anyway.
Gradients, for example, need only be those of what the component does compute.

Parameters are random, and a submission may name and lay them out as it likes. There may be several formulas, one for
each way to read the parameters, and one of them has to fit.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from .arguments import Inputs
from .calls import expect_computes, expect_no_state, is_right
from .case import Case
from .comparison import expect_gradients
from .fitting import Candidates

DTYPES = torch.float64, torch.float32
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["float64", "float32"])
"""A test runs in both; float32 is what models are trained in."""


@dataclass(frozen=True)
class Subject:
    """A component that is tested.

    Attributes:
        call: a function or a module of the submission.
        parts: names of what it returns, in order; a list of tensors is one part.
        formulas: what it may compute, each of float64 inputs; or why none can be found.
        parameters: of the component, each with a float64 copy with which the formulas compute.
        dtype: of the results, where no input has it.
    """

    call: Any
    parts: Sequence[str]
    formulas: Candidates
    parameters: Sequence[tuple[Tensor, Tensor]] = ()
    dtype: torch.dtype | None = None

    def expect_values(self, inputs: Inputs, look_at: str = "", of: Sequence[str] = (), **options: Any) -> None:
        """Fails unless these parts, or all, are those of a formula.

        Args:
            inputs: the arguments by name.
            look_at: a hint for whoever fails.
            of: the parts that the test is about.
            options: further arguments of `expect_computes`, such as `judged_where`.
        """
        __tracebackhide__ = True
        expect_computes(self.call, self.formulas, inputs, self.parts, look_at, of=of, dtype=self.dtype, **options)

    def expect_gradients(
        self,
        case: Case,
        inputs: Inputs,
        look_at: str = "",
        of: Sequence[str] = (),
        nonzero: Iterable[Tensor] | None = None,
    ) -> None:
        """Fails unless the gradients of all inputs and parameters are right.

        Args:
            case: draws the sum of results that is differentiated.
            inputs: the arguments by name.
            look_at: a hint for whoever fails.
            of: the parts that the test is about.
            nonzero: parameters whose gradients must not be zero; None = all, and there must be some.
        """
        __tracebackhide__ = True
        is_right_too = expect_computes(
            self.call,
            self.formulas,
            inputs,
            self.parts,
            look_at,
            parameters=self.parameters,
            case=case,
            of=of,
            dtype=self.dtype,
            gradients_only=True,
        )
        parameters = [one for one, _ in self.parameters] if nonzero is None else list(nonzero)
        if is_right_too and (parameters or nonzero is None):
            expect_gradients(parameters, "the gradients of the parameters", look_at)

    def expect_no_side_effects(
        self, inputs: Inputs, others: Inputs, fresh: "Callable[[], Subject] | None" = None
    ) -> None:
        """Fails where a call depends on an earlier one, changes what that returned, or changes its arguments.

        Args:
            inputs: the arguments by name.
            others: other values, of the same shapes.
            fresh: makes one that was not called before: if that is right where this one is wrong from the start, the
                earlier call is to blame.
        """
        __tracebackhide__ = True
        expect_no_state(
            self.call,
            self.formulas,
            inputs,
            others,
            self.parts,
            fresh=(lambda: fresh().is_right(inputs)) if fresh else None,
        )

    def is_right(self, inputs: Inputs, of: Sequence[str] = ()) -> bool:
        """Whether `expect_values` would pass."""
        return is_right(self.call, self.formulas, inputs, self.parts, dtype=self.dtype, of=of)


def each_row(names: Iterable[str], also_in_float32: Sequence[str] = ()) -> pytest.MarkDecorator:
    """A test runs with each named row of a table in float64, and with some in float32 too."""
    rows = in_dtypes(names, also_in_float32)
    return pytest.mark.parametrize("name, dtype", rows, ids=map(label_of, rows))


def in_dtypes(names: Iterable[str], also_in_float32: Sequence[str]) -> list[tuple[str, torch.dtype]]:
    """Each row of a table in float64, some in float32 too."""
    return [(name, dtype) for name in names for dtype in DTYPES if dtype == torch.float64 or name in also_in_float32]


def rows_of(kinds: Sequence[Any], rows: Sequence[Any], of_extensions: Sequence[Any]) -> list[Any]:
    """Parameters of a test that runs with each kind in several ways; with kinds of extensions in few.

    Args:
        kinds: parameters with a task's mark, and with whether they are of an extension as their last value.
        rows: further parameters for each kind.
        of_extensions: those for extensions.
    """
    return [
        pytest.param(*kind.values, *row, marks=kind.marks, id=f"{kind.id}-{label_of(row)}")
        for kind in kinds
        for row in (of_extensions if kind.values[-1] else rows)
    ]


def label_of(row: Sequence[object]) -> str:
    """A row's part of a test's id."""
    return "-".join(str(value).removeprefix("torch.") for value in row)
