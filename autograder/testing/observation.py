"""Compares a wrong result with the right one: the line `observed:` of a message.

Each function looks for one relation between the two that a person might find by staring at the numbers long enough: a
constant factor, a summand too many, a limit, weights that sum to 1 over the wrong axis. It names what is to be seen,
never what to write; where nothing is seen, a message asks its question instead. Each relation is that of a known fault.
"""

import math
from collections.abc import Mapping
from itertools import permutations

import torch
from torch import Tensor

from .comparison import CLOSE, alike, worst_place

TINY = 1e-12  # weights below it are rounding, or forbidden
MOST_ROWS = 4  # by one less than so many a mask may be moved
NEARLY = 3e-3
FEW = 0.9  # of all values may differ where the others are right by more than accident


def observe(actual: Tensor, expected: Tensor, inputs: Mapping[str, Tensor | None]) -> str:
    """Describe in one line a relation of a result to the expected one, of the same shape; "" where none is seen.

    The inputs are the arguments of the call, by name.
    """
    with torch.no_grad():
        actual, expected = actual.detach().double(), expected.detach().double()
        given = {name: value.detach().double() for name, value in inputs.items() if value is not None}
        if not expected.numel() or not torch.isfinite(actual).all() or alike(actual, expected):
            return ""  # what is off by rounding has many relations by accident
        looks = (an_argument, weights, a_factor, lengths, a_shift, a_limit, moved, places)
        return next((text for look in looks if (text := look(actual, expected, given))), "")


def an_argument(actual: Tensor, expected: Tensor, given: dict[str, Tensor]) -> str:
    """Notices an argument that is added to the result."""
    for name, value in given.items():
        if value.shape == actual.shape and bool(value.any()) and alike(actual - value, expected):
            return f"the difference is {name}: without it, the values would be as expected"
    return ""


def weights(actual: Tensor, expected: Tensor, given: dict[str, Tensor]) -> str:
    """Looks at distributions over the last axis, such as attention weights: their sums, zeros and sharpness."""
    if not are_weights(expected):
        return ""
    if bool((actual < 0).any()):
        return f"weights are never negative; the smallest here is {actual.min().item():.4g}"
    sums = actual.sum(-1)
    if not alike(sums, torch.ones_like(sums)):
        for axis in range(actual.dim() - 1):
            over_axis = actual.sum(axis)
            if actual.size(axis) > 1 and alike(over_axis, torch.ones_like(over_axis)):
                return f"weights sum to 1 over axis {axis}, not over the last one, the keys"
        worst = sums.flatten()[(sums - 1).abs().argmax()].item()
        if abs(worst - 1) < NEARLY:  # by rounding
            return ""
        return f"the weights of a query should sum to 1; here they sum to {worst:.4g}"
    if bool(((actual == 0) | (actual == 1)).all()) and actual.size(-1) > 1:
        return "one key of each query has the weight 1, and all others 0"
    for mask in (value.bool() for name, value in given.items() if "mask" in name):
        try:
            mask = mask.expand_as(actual)
        except RuntimeError:  # a mask of something else
            continue
        on_forbidden = (actual * (~mask & mask.any(-1, keepdim=True))).max().item()
        if on_forbidden > 1e-3:
            if (actual * mask).max().item() < 1e-3:
                return "the keys that the mask forbids share all the weight, and those that it allows have none"
            return f"a key that the mask forbids has the weight {on_forbidden:.4g}"
    return sharpness(actual, expected, given)


def are_weights(values: Tensor) -> bool:
    """Return True for distributions over the last axis."""
    is_one = values.dim() > 1 and bool((values >= 0).all())
    return is_one and alike(values.sum(-1), torch.ones(values.shape[:-1]))


def sharpness(actual: Tensor, expected: Tensor, given: dict[str, Tensor]) -> str:
    """Notices that the scores before the softmax differed by a factor."""
    counts = (expected > TINY) & (actual > TINY)
    if int(counts.sum(-1).max()) < 2:
        return ""
    got, wanted = (relative_scores(weights, counts) for weights in (actual, expected))
    factor = ((got * wanted).sum() / (wanted * wanted).sum()).item()
    if abs(factor - 1) < CLOSE or not alike(got, factor * wanted):
        return ""
    apart = f"before the softmax, the scores of a query were {factor:.4g} times as far apart as expected"
    return apart + known(factor, given)


def relative_scores(weights: Tensor, counts: Tensor) -> Tensor:
    """Returns the logarithms of a query's weights, less their mean; 0 for those that do not count."""
    logs = torch.where(counts, weights, 1.0).log()
    return torch.where(counts, logs - logs.sum(-1, keepdim=True) / counts.sum(-1, keepdim=True).clamp_min(1), 0.0)


def about_mask(actual: object, expected: Tensor) -> str:
    """Describe in one line how a mask of the right shape differs from the right one; "" where no law is seen."""
    if not isinstance(actual, Tensor) or actual.shape != expected.shape or torch.equal(actual, expected):
        return ""
    different = actual != expected
    if bool(different.all()):
        return "True and False are swapped" * (expected.numel() > 1)
    if expected.dim() == 2:
        if torch.equal(actual.mT, expected):
            return "rows and columns are swapped"
        if not different.fill_diagonal_(False).any():
            return "the diagonal alone is wrong"
        for n in range(1, min(len(expected), MOST_ROWS)):
            if torch.equal(actual[:-n], expected[n:]):
                return f"each query has the row of the query {n} later"
            if torch.equal(actual[n:], expected[:-n]):
                return f"each query has the row of the query {n} earlier"
    if torch.equal(actual.sum(-1), expected.sum(-1)):
        return "each row has as many True as expected, in other places"
    return ""


def a_factor(actual: Tensor, expected: Tensor, given: dict[str, Tensor]) -> str:
    """Notices a constant factor, perhaps beside a shift of each feature, and what size it belongs to."""
    given = given | {"the result": actual}
    if (factor := ratio(actual, expected)) is not None:
        return f"every value is {factor:.4g} times what is expected{known(factor, given)}"
    if actual.dim() > 1 and actual[..., 0].numel() > 2:
        factor = ratio(*(value.flatten(0, -2).diff(dim=0) for value in (actual, expected)))
        if factor is not None:
            return f"positions differ {factor:.4g} times as much as expected{known(factor, given)}"
    return ""


def ratio(actual: Tensor, expected: Tensor) -> float | None:
    """Returns the constant factor between two results; None if there is none, or it is 1 or almost 0."""
    size = (expected * expected).sum()
    factor = ((actual * expected).sum() / size).item() if size > 0 else 0.0
    is_factor = abs(factor) > CLOSE and abs(factor - 1) > CLOSE and alike(actual, factor * expected)
    return factor if is_factor else None


def known(factor: float, given: dict[str, Tensor]) -> str:
    """Names a factor by a size in the call: "; sqrt(7) = 2.646, and 7 is the size of an axis of query"."""
    sizes = {size: name for name, value in reversed(given.items()) for size in value.shape if size > 1}
    forms: dict[str, tuple[float, str]] = {}
    for size, name in sizes.items():
        about, root, whole = f"{size} is the size of an axis of {name}", size**0.5, math.isqrt(size)
        forms |= {f"sqrt({size})": (root, about), f"1 / sqrt({size})": (1 / root, about)}
        forms |= {f"{size}": (size, about), f"1 / {size}": (1 / size, about)}
        if whole > 1 and whole**2 != size:  # the root was rounded down
            forms[f"{whole} / sqrt({size})"] = whole / root, about
            forms[f"sqrt({size}) / {whole}"] = root / whole, about
    for first, second in permutations(sizes, 2):
        forms[f"sqrt({first} / {second})"] = (first / second) ** 0.5, f"{first} and {second} are sizes of axes"
    for form, (number, about) in forms.items():
        if abs(factor / number - 1) < CLOSE:
            return f"; {about}" if form.isdecimal() else f"; {form} = {number:.4g}, and {about}"
    return ""


def lengths(actual: Tensor, expected: Tensor, given: dict[str, Tensor]) -> str:
    """Notices vectors that point where they should, with other lengths."""
    if actual.dim() < 2 or actual.size(-1) < 2 or actual[..., 0].numel() <= 2:
        return ""
    got, due = actual.norm(dim=-1), expected.norm(dim=-1)
    if not due.all() or not got.any() or not alike(actual, expected * (got / due)[..., None]):
        return ""
    longest = got.max()
    if alike(got, longest.expand_as(got)):
        return f"each vector has the direction that is expected, but all have the length {longest:.4g}"
    n_longer = int((due > longest).sum())
    if n_longer and alike(got, due.clamp(max=longest)):
        return f"no vector is longer than {longest:.4g}; {n_longer} that should be are cut to it"
    return ""


def a_shift(actual: Tensor, expected: Tensor, given: dict[str, Tensor]) -> str:
    """Notices a difference that depends on the feature alone."""
    difference = (actual - expected).flatten(0, -2) if actual.dim() > 1 else actual[:0]
    is_shift = len(difference) > 2 and alike(actual, expected + difference[0])
    return "each feature differs by the same number at every position: the shift is wrong" * is_shift


def a_limit(actual: Tensor, expected: Tensor, given: dict[str, Tensor]) -> str:
    """Notices values that are as expected but for those beyond a limit."""
    for sign, word, side in ((1, "largest", "above"), (-1, "smallest", "below")):
        limit = (sign * actual).max()
        n_beyond = int((sign * expected > limit + CLOSE).sum())
        if n_beyond > 1 and alike(sign * actual, (sign * expected).clamp(max=limit)):
            return f"the {word} value is {sign * limit.item():.4g}; {n_beyond} that should be {side} it are not"
    return ""


def agreement(actual: Tensor, expected: Tensor) -> str:
    """Count the digits to which values agree that are nearly right, in words."""
    actual, expected = actual.double(), expected.double()
    error = ((actual - expected).abs() / (expected.abs() + 0.1 * expected.abs().mean())).max().item()
    return f"all values agree to {-math.log10(error):.0f} digits or so" if 0 < error < NEARLY else ""


def moved(actual: Tensor, expected: Tensor, given: dict[str, Tensor]) -> str:
    """Notices the right values in other places."""
    is_moved = actual.numel() > 2 and alike(actual.flatten().sort().values, expected.flatten().sort().values)
    return "these are the expected values in other places" * is_moved


def places(actual: Tensor, expected: Tensor, given: dict[str, Tensor]) -> str:
    """Name the places along one axis where all differences lie: all from one on, or up to one."""
    wrong = (actual - expected).abs() > CLOSE * (1 + expected.abs())
    if not wrong.any() or wrong.float().mean() > FEW or are_weights(expected):
        return ""  # a key that is forbidden changes the weights of others, too
    for axis in range(wrong.dim()):
        hit = wrong.transpose(0, axis).flatten(1).any(1) if wrong.dim() > 1 else wrong
        n_hit, size = int(hit.sum()), len(hit)
        if n_hit < size > 2 and (hit[-n_hit:].all() or hit[:n_hit].all()):
            side = "first" if hit[0] else "last"
            return f"only the {side} {n_hit} of {size} along axis {axis} differ"
    return ""


def side_by_side(actual: Tensor, expected: Tensor, most: int = 4) -> list[str]:
    """Draws what was expected beside what was found, as text: the numbers around the place where they differ most.

    Nothing is drawn of single rows; of others, at most so many rows and columns.
    """
    if actual.shape != expected.shape or actual.dim() < 2 or min(actual.shape[-2:]) < 2:
        return []
    actual, expected = actual.detach().double(), expected.detach().double()
    *first, row, column = worst_place(actual, expected)
    top, left = (max(0, min(at - 1, n - most)) for at, n in zip((row, column), actual.shape[-2:], strict=True))
    pictures = []
    for tensor in (expected, actual):
        for index in first:
            tensor = tensor[index]
        window = tensor[top : top + most, left : left + most].tolist()
        pictures.append([" ".join(f"{value:9.3g}" for value in line) for line in window])
    head = f"expected[{', '.join([*map(str, first), f'{top}:', f'{left}:'])}]"
    width = max(len(head), len(pictures[0][0])) + 4
    return [head.ljust(width) + "got", *(left.ljust(width) + right for left, right in zip(*pictures, strict=True))]
