"""Verdicts on the rubric items of a component: for each a function, "" where the item is right, or what differs.

An item that gets none is left to a person, as masks are where a component computes something else. Sizes are such that
no axis can be taken for another.
"""

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations, product
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.sandbox.submission import Sandbox
from autograder.testing.case import default_dtype

from . import outside_formulas as formulas
from .outside_formulas import (
    Comparison,
    Formula,
    Reading,
    Tested,
    Verdicts,
    apart,
    called,
    clones,
    first,
    first_of,
    mask_of,
    normal,
    tensors_in,
    usual,
)

OF_NORMS = 1e-4
"""The largest difference, relative to the largest value, where the part that epsilon plays is judged elsewhere."""


def judge_embedding(submission: Sandbox) -> Verdicts:
    """Task 1.1, with a d_model whose root is whole, and with another one."""
    tokens, name = torch.randint(4, 11, (3, 5)), "embedding.InputEmbedding"

    def looked_up(d: int) -> tuple[str, float]:
        """The difference from a multiple of the rows of the table, and the factor."""
        tested = Tested(submission, name, 11, d)
        [rows] = [parameter[tokens] for parameter in tested.learned if parameter.shape == (11, d)]
        got = tested.call(tokens)
        factor = float((got / rows).detach().mean())
        return apart(got, rows * factor), factor

    def scaled(d: int) -> str:
        problem, factor = looked_up(d)
        return problem or f"times {factor:.3g} instead of sqrt({d})" * (abs(factor - math.sqrt(d)) > 1e-6)

    def others() -> str:
        made = submission.build(name, 11, 6, dtype=torch.float32, isolated=False)
        dtype, count = made(tokens).dtype, sum(parameter.numel() for parameter in tested.learned)
        return f"{dtype} from float32" * (dtype != torch.float32) or f"{count} learned numbers" * (count != 11 * 6)

    tested = Tested(submission, name, 11, 6)
    common = usual(tested.call, [tokens], [tokens[:, :3]], tested.learned)
    return {
        "looked up": lambda: looked_up(6)[0],
        "times sqrt(d_model)": lambda: scaled(9),
        "any size and dtype": lambda: scaled(6) or others(),
        "one table is learned": common["gradients"],
        "no side effects": common["no side effects"],
    }


def without_keys(call: Formula, inputs: Sequence[Tensor], mask: Tensor, learned: Sequence[Tensor] = ()) -> str:
    """Results and gradients that are not finite where the mask allows a query nothing."""
    inputs = [tensor.requires_grad_() for tensor in clones(inputs)]
    results = tensors_in(call(*clones(inputs), mask))
    if not all(result.isfinite().all() for result in results):
        return "not finite for a query without keys"
    results[0].sum().backward()
    gradients = [tensor.grad for tensor in (*inputs, *learned) if tensor.grad is not None]
    return "gradients not finite for a query without keys" * (not all(x.isfinite().all() for x in gradients))


def judge_attention(submission: Sandbox) -> Verdicts:
    """Task 1.2."""
    call = partial(submission.call, "attention.scaled_dot_product_attention", isolated=False)

    def draw(q: int = 5, k: int = 6, d: int = 7, mask: Tensor | None = None) -> list[Any]:
        return [normal(2, 3, q, d), normal(2, 3, k, d), normal(2, 3, k, d), *([] if mask is None else [mask])]

    def formula(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return formulas.attend(query.double(), key.double(), value.double(), mask)

    compare = Comparison(call, formula)
    masks = [mask_of(*shape) for shape in ((2, 1, 1, 6), (2, 1, 5, 6), (2, 3, 5, 6), (5, 6))]
    masks += [torch.ones(5, 6).tril() > 0, torch.ones(5, 6) > 0]
    far = [torch.full((2, 3, 5, 7), 20.0).double(), normal(2, 3, 6, 7) + 100.0 * ~masks[0].mT, normal(2, 3, 6, 7)]
    low = [-far[0], normal(2, 3, 6, 7).abs() + 8, far[2]]
    masked = [[*draw(), mask] for mask in masks] + [[*far, masks[0]], [*low, masks[0]]]
    special = [draw(5, 1), draw(1, 1, 3), draw(60, 90, 64)]
    lonely = mask_of(2, 3, 5, 6)
    lonely[0, 0, 0] = False
    # What differs with a mask, as the context does, costs the masks' item alone.
    ways = [None, *(mask for mask in masks[:2] if not compare(*draw(mask=mask)))]
    common = [usual(call, draw(mask=mask), draw(mask=mask)) for mask in ways]

    def in_float32() -> str:
        with default_dtype(torch.float32):  # another one costs another item
            return compare._replace(tolerance=2e-4)(*(tensor.float() for tensor in draw()))

    def unsafe() -> str:
        given, has_keys = draw(), lonely.any(-1, keepdim=True)
        wanted = formulas.attend(given[0], given[1], given[2], lonely)[0]
        problem = apart(called(call, *given, lonely) * has_keys, wanted * has_keys)
        return without_keys(call, given, lonely) or problem or compare(*(60 * tensor for tensor in draw()))

    return {
        "scores, scale and softmax": lambda: compare(*draw()) or in_float32(),
        "special cases": lambda: first(compare(*given) for given in special),
        "returned weights": lambda: first(compare(*draw(mask=mask), index=1) for mask in ways),
        "masks": lambda: first(compare(*given) for given in masked),
        "numerically safe": unsafe,
        **{item: partial(first_of, common, item) for item in common[0]},
    }


def judge_heads(submission: Sandbox) -> Verdicts:
    """Task 1.3."""
    name, d, h = "attention.MultiHeadedAttention", 12, 4
    tested = Tested(submission, name, d, h)
    maps = tested.parts(d, h).maps

    def draw(q: int = 5, k: int = 6) -> list[Tensor]:
        return [normal(3, q, d), normal(3, k, d), normal(3, k, d)]

    given, (x, y, _) = draw(), draw(5, 5)
    result = called(tested.call, *given)
    reading, problem = formulas.search(result, formulas.readings(), lambda by: formulas.heads(given, maps, h, by)[0])
    compare = Comparison(tested.call, lambda *given: formulas.heads(given, maps, h, reading), problem)

    def refused() -> str:
        for size in (10, 3):
            try:
                submission.build(name, size, h, isolated=False)
            except ValueError:
                continue
            except Exception as error:
                return f"{formulas.kind_of(error)} instead of ValueError"
            return "no error for a d_model that the heads do not divide"
        return ""

    lonely = mask_of(3, h, 5, 6)
    lonely[0, 1, 0] = False
    sizes = {"b11k": (3, 1, 1, 6), "qk": (5, 6), "b1qk": (3, 1, 5, 6), "bhqk": (3, h, 5, 6)}
    masks = {axes: mask_of(*sizes) for axes, sizes in sizes.items()}
    wrong = (f"mask ({', '.join(axes)}): wrong values" for axes, mask in masks.items() if compare(*draw(), mask))
    # What differs with a mask, as the output does, costs the masks' item alone.
    ways = [[], [masks["b1qk"]]][: 1 if compare(*draw(), masks["b1qk"]) else 2]
    common = [usual(tested.call, [*draw(), *way], [*draw(), *way], tested.learned) for way in ways]
    return {
        "projections and heads": lambda: first(compare(*given) for given in (draw(), [x, x, x], [x, y, y])),
        "special cases": lambda: first(compare(*given) for given in (draw(1, 1), draw(40, 70))),
        "returned weights": lambda: first(compare(*draw(), *way, index=1) for way in ways),
        **({} if problem else {"masks reach every head": lambda: first(wrong)}),  # else for a person
        "a query without keys": lambda: without_keys(tested.call, draw(), lonely, tested.learned),
        "refuses other sizes": refused,
        "gradients": common[-1]["gradients"],
        "no side effects": partial(first_of, common, "no side effects"),
    }


def judge_norm(submission: Sandbox) -> Verdicts:
    """Task 1.4."""
    name, d = "layers.LayerNorm", 7
    tested, x = Tested(submission, name, d, epsilon=1e-6), 100 * normal(3, 5, d)
    new: Any = submission.build(name, d, dtype=torch.float64, isolated=False)
    count = sum(parameter.numel() for parameter in tested.learned)
    pairs = [pair for pair in permutations(tested.learned) if len(pair) == 2 and {*map(len, pair)} <= {1, d}]
    reading, problem = formulas.search(called(tested.call, x), pairs, lambda pair: formulas.norm(x, *pair), 1e-6)
    compare = Comparison(tested.call, lambda x: [formulas.norm(x, *reading)], problem, 1e-6)

    def of_epsilon(scale: float, **options: float) -> str:
        """The settings of the formula that fits, as far as they are wrong."""
        fresh: Any = submission.build(name, d, dtype=torch.float64, isolated=False, **options)
        y, wanted = scale * normal(4, d), options.get("epsilon", 1e-6)
        got = fresh(y)
        for epsilon, less, is_outside in product((wanted, 1e-5, 1e-12, 1e-8), (0, 1), (False, True)):
            if not apart(got, formulas.norm(y, 1.0, 0.0, epsilon, less, is_outside), 1e-6):
                words = [f"epsilon {epsilon:g}"] * (epsilon != wanted) + ["variance over d - 1"] * less
                return " and ".join([*words, *["epsilon outside the root"] * is_outside])
        return "another formula"

    def constant() -> str:
        y = torch.full((2, d), 3.0, dtype=torch.float64, requires_grad=True)
        new(y).sum().backward()
        return "" if y.grad is not None and y.grad.isfinite().all() else "gradients not finite for equal features"

    def parameters() -> str:
        if count != 2 * d:
            return f"{count} learned numbers instead of {2 * d}"
        factor = float(new(x).detach().norm() / formulas.norm(x).norm())  # a variance is another item's
        return apart(new(x), formulas.norm(x) * factor, OF_NORMS)

    def new_ones() -> str:
        is_sample = not apart(new(x), formulas.norm(x, less=1), OF_NORMS)
        return "variance over d - 1" if is_sample else apart(new(x), formulas.norm(x), OF_NORMS)

    return {
        "mean and variance": new_ones,
        "gain and shift": lambda: compare(x),
        "special cases": lambda: first(compare(100 * normal(*shape)) for shape in ((d,), (2, d), (2, 3, 2, d))),
        "epsilon": lambda: (
            of_epsilon(1.0, epsilon=0.5) or of_epsilon(1e-3) or of_epsilon(1e-2, epsilon=0.0) or constant()
        ),
        "parameters": parameters,
        **usual(tested.call, [normal(3, d)], [normal(2, 5, d)], tested.learned),
    }


def judge_network(submission: Sandbox) -> Verdicts:
    """Task 1.5."""
    d, d_ff = 5, 9
    tested, x = Tested(submission, "layers.FeedForward", d, d_ff), normal(3, 4, d)
    hidden = tested.parts(d, 1, d_ff).hidden
    kinds: dict[str, Formula] = {"relu": torch.relu, "gelu": F.gelu, "silu": F.silu}
    kinds["gelu by tanh"] = partial(F.gelu, approximate="tanh")
    choices = product(kinds, (hidden, hidden[::-1]), (False, True))
    reading, problem = formulas.search(
        called(tested.call, x), choices, lambda by: formulas.network(x, by[1], kinds[by[0]], by[2])
    )
    biases = sum(bias is not None for _, bias in hidden)
    other = f"{reading[0]} instead of relu" if reading and reading[0] != "relu" else ""
    return {
        "both maps": lambda: problem or ("" if biases == 2 else f"{biases} biases instead of 2"),
        "relu between them": lambda: problem or other,
        "special cases": lambda: problem or other,
        **usual(tested.call, [x], [normal(2, 5, d)], tested.learned),
    }


def judge_masks(submission: Sandbox) -> Verdicts:
    """Task 1.6; padding elsewhere than at the end is a special case."""
    ends = torch.tensor([[4, 3, 2, 2], [1, 5, 3, 4], [1, 2, 2, 2]])
    elsewhere = torch.tensor([[4, 2, 0, 0], [1, 2, 3, 4], [0, 3, 0, 1]])

    def same(wanted: Tensor, name: str, *given: Any) -> str:
        got = submission.call(f"masks.{name}", *given, isolated=False)
        is_bool = torch.is_tensor(got) and got.dtype == torch.bool
        return apart(got, wanted) if is_bool else f"{getattr(got, 'dtype', type(got).__name__)} instead of bool"

    def padding(tokens: Tensor, pad: int) -> str:
        return same((tokens != pad)[:, None, None], "padding_mask", tokens, pad)

    def later(n: int) -> str:
        return same(torch.arange(n)[:, None] >= torch.arange(n), "causal_mask", n)

    def off_device() -> str:
        device = submission.apply("device_of", "masks.causal_mask", [3, "meta"], isolated=False)
        return "it is made on the CPU whatever the device" * (device != "meta")

    return {
        "padding": lambda: padding(ends, 2) or padding(ends - 2, 0),
        "later positions": lambda: first(map(later, (2, 4))),
        "special cases": lambda: (
            first(map(later, (1, 70))) or first(padding(elsewhere, pad) for pad in (0, 2)) or off_device()
        ),
    }


def judge_layers(submission: Sandbox, component: str, n_layers: int = 0) -> Verdicts:
    """Tasks 2.1 to 2.3: one layer, or a stack of some; norms and attention inside are their own."""
    d, h, d_ff, is_decoder = 12, 4, 7, "Decoder" in component
    sizes = (d, h, d_ff, n_layers) if n_layers else (d, h, d_ff)
    tested = Tested(submission, component, *sizes, dropout=0.3)

    def draw(t: int = 5, s: int = 6, masked: bool = True) -> list[Any]:
        masks = [mask_of(3, 1, t, t) if masked else None, mask_of(3, 1, 1, s) if masked else None]
        return [normal(3, t, d), normal(3, s, d), masks[1], masks[0]] if is_decoder else [normal(3, t, d), masks[0]]

    def parts_of(module: Tested) -> list[formulas.Parts]:
        numbers = {name: re.search(r"(?<!\w)\d+", name) if n_layers else None for name in module.named}
        of_layer: dict[str, set[str]] = {}
        for name, number in numbers.items():
            of_layer.setdefault(number[0] if number else "", set()).add(name)
        return [module.parts(d, h, d_ff, names.__contains__) for names in of_layer.values()]

    def formula(*given: Any, by: Reading, parts: Sequence[formulas.Parts], kept: float = 1.0) -> list[Tensor]:
        memory, masks = (given[1], given[:1:-1]) if is_decoder else (None, given[1:])
        return formulas.stack(given[0], memory, masks, parts, h, by, kept)

    given, own = draw(masked=False), parts_of(tested)
    choices = formulas.readings(1 + is_decoder, 2 + is_decoder)
    result = called(tested.call, *given)
    reading, problem = formulas.search(result, choices, lambda by: formula(*given, by=by, parts=own)[0], OF_NORMS)
    compare = Comparison(tested.call, partial(formula, by=reading, parts=own), problem, OF_NORMS)

    def drops(rate: float) -> str:
        if problem:
            return problem
        other, inputs = Tested(submission, component, *sizes, dropout=rate), draw(masked=False)
        wanted = formula(*inputs, by=reading, parts=parts_of(other), kept=0.0 if rate else 1.0)[0]
        other.call.train()
        got, again = (called(other.call, *inputs) for _ in range(2))
        is_free = not rate and not torch.equal(got, again)  # a part of its own may have a rate of its own
        return "" if is_free else apart(got, wanted, 1e-3)

    def outputs(*sizes: tuple[int, int], masked: bool = False) -> str:
        return first(compare(*draw(*axes, masked=masked)) for axes in sizes)

    masks = partial(outputs, (5, 6), (5, 5), (40, 50), masked=True)
    n_weights = max(1, n_layers) * (1 + is_decoder)
    return {
        "sublayers": partial(outputs, (5, 6)),
        "layers in order": partial(outputs, (5, 6)),
        "special cases": partial(outputs, (1, 1), (40, 50)),
        "returned weights": lambda: first(compare(*draw(masked=False), index=i) for i in range(1, 1 + n_weights)),
        **({} if problem else dict.fromkeys(("masks", "masks reach every layer"), masks)),  # else for a person
        "dropout": lambda: first(f"rate {rate:.2g}: {why}" for rate in (0.0, 1 - 1e-9) if (why := drops(rate))),
        **usual(tested.call, draw(), draw(), tested.learned),
    }


def judge_stacks(submission: Sandbox) -> Verdicts:
    """Task 2.3."""
    both = [judge_layers(submission, f"model.{kind}", 3) for kind in ("Encoder", "Decoder")]
    return {item: partial(first_of, both, item) for item in both[0] if item in both[1]}


JUDGES: dict[str, Callable[[Sandbox], Verdicts]] = {
    "1.1": judge_embedding,
    "1.2": judge_attention,
    "1.3": judge_heads,
    "1.4": judge_norm,
    "1.5": judge_network,
    "1.6": judge_masks,
    "2.1": partial(judge_layers, component="layers.EncoderLayer"),
    "2.2": partial(judge_layers, component="layers.DecoderLayer"),
    "2.3": judge_stacks,
}
