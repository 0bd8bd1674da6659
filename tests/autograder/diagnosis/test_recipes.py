"""However the parameters of multi-headed attention are laid out, one recipe puts them where they belong."""

from types import SimpleNamespace

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from autograder.assignment.diagnosis_layouts import readings
from autograder.diagnosis.recipes import fill_all, recipes


def four(d_model: int) -> list[torch.Tensor]:
    """Matrices and biases of query, key, value and output, alternating as nn.Linear has them."""
    return [torch.randn(*shape) for _ in range(4) for shape in ((d_model, d_model), (d_model,))]


def fused(parts, n_heads):
    return [torch.cat(parts[0:6:2]), torch.cat(parts[1:6:2]), *parts[6:]]


def interleaved(parts, n_heads):
    chunks = [[part.chunk(n_heads) for part in parts[first:6:2]] for first in (0, 1)]
    mixed = [torch.cat([one for head in zip(*roles, strict=True) for one in head]) for roles in chunks]
    return [*mixed, *parts[6:]]


def by_head(parts, n_heads):
    heads = zip(*(part.chunk(n_heads) for part in parts[:6]), strict=True)
    return [small for head in heads for small in head] + parts[6:]


def by_role(parts, n_heads):
    roles = [zip(parts[k].chunk(n_heads), parts[k + 1].chunk(n_heads), strict=True) for k in (0, 2, 4)]
    return [small for role in roles for head in role for small in head] + parts[6:]


def on_the_right(parts, n_heads):
    return [part.T if part.dim() == 2 else part for part in parts]


def with_more_axes(parts, n_heads):
    return [part[..., None] if part.dim() == 2 else part[None] for part in parts]


def shuffled(parts, n_heads):
    return [part for k in (6, 2, 0, 4) for part in parts[k : k + 2]]


def test_a_plan_for_one_layer_says_nothing_of_more():
    """Places that it does not know would stay zero."""
    layer = torch.Size((9, 4, 4))
    [first, *_] = recipes((layer,), (layer,))
    assert first.plan.adapted((layer,), (layer,), (list,)) is not None
    assert first.plan.adapted((layer,) * 3, (layer,) * 3, (list,)) is None


LAYOUTS = [fused, interleaved, by_head, by_role, on_the_right, with_more_axes, shuffled]


@given(st.sampled_from(LAYOUTS), st.sampled_from([(2, 2), (4, 4), (2, 6), (5, 10)]))
def test_one_plan_serves_objects_of_all_sizes(layout, other):
    """Where n_heads = d_model, matrices of heads are vectors, and many more assignments look alike."""

    def laid_out(n_heads, d_model):
        parts = four(d_model)
        mine = layout(parts, n_heads)
        shapes = tuple(p.shape for p in parts), tuple(p.shape for p in mine)
        ours = SimpleNamespace(n_heads=n_heads)
        return parts, mine, (*shapes, readings("attention.MultiHeadedAttention", ours, *shapes))

    parts, mine, about = laid_out(3, 12)
    found = recipes(*about)
    right = [all(map(torch.equal, filled, parts)) for filled in fill_all(found, mine)].index(True)
    parts, mine, about = laid_out(*other)
    [values] = fill_all([found[right].plan.adapted(*about)], mine)
    assert all(map(torch.equal, values, parts))


def test_a_plan_knows_which_matrices_are_turned_even_where_they_are_square():
    places = tuple(p.shape for p in nn.Linear(3, 5).parameters())
    [recipe] = recipes(places, (torch.Size([3, 5]), torch.Size([5])))
    square = torch.randn(4, 4)
    adapted = recipe.plan.adapted((square.shape, torch.Size([4])), (square.shape, torch.Size([4])), (list,))
    assert torch.equal(fill_all([adapted], [square, torch.zeros(4)])[0][0], square.T)
    assert recipe.plan.adapted(places, places[:1], (list,)) is None


def test_parameters_without_a_place_have_no_recipe():
    places = tuple(p.shape for p in nn.Linear(3, 5).parameters())
    assert not recipes(places, (*places, torch.Size([3, 5])))
    assert not recipes(places, (torch.Size([4, 5]), torch.Size([5])))


def test_missing_biases_are_zero():
    places = tuple(p.shape for p in nn.Linear(3, 5).parameters())
    weight = torch.randn(5, 3)
    [values] = fill_all(recipes(places, (weight.shape,))[:1], [weight])
    assert torch.equal(values[0], weight)
    assert not values[1].any()
