"""Conditions on what tensors hold: masks and values."""

from collections.abc import Iterator

import torch
from torch import Tensor

from .components import ON_FLOATS, WITH_MASKS
from .condition import Condition, under


def has_equal_row(tensor: Tensor) -> bool:
    """Whether all features are the same somewhere."""
    return tensor.size(-1) > 1 and bool((tensor == tensor[..., :1]).all(dim=-1).any()) and tensor.dim() > 0


def is_free_in_one(mask: Tensor, axis: int, place: int) -> bool:
    """Whether a mask of several rows along an axis forbids something, but nothing in one of these rows."""
    has_rows = mask.dim() == 4 and mask.size(axis) > 1
    return has_rows and bool(mask.select(axis, place).all()) and not bool(mask.all())


def largest_of(tensors: list[Tensor]) -> Iterator[float]:
    """The largest absolute value of each."""
    return (float(tensor.detach().abs().max()) for tensor in tensors)


ARGUMENTS: dict[str, Condition] = (
    under(
        "masks",
        WITH_MASKS,
        no_mask=lambda m: any(mask is None for mask in m.masks),
        a_mask_of_two_axes=lambda m: any(mask.dim() == 2 for mask in m.given_masks),
        a_mask_of_padding=lambda m: any(mask.dim() == 4 and mask.shape[1:3] == (1, 1) for mask in m.given_masks),
        a_mask_of_one_sentence_for_all=lambda m: any(mask.dim() == 4 and mask.size(0) == 1 for mask in m.given_masks),
        a_mask_with_rows_for_each_head=lambda m: any(mask.dim() == 4 and mask.size(1) > 1 for mask in m.given_masks),
        a_mask_with_rows_for_each_query=lambda m: any(mask.dim() == 4 and mask.size(2) > 1 for mask in m.given_masks),
        a_mask_with_rows_for_each_query_and_all_heads=lambda m: any(
            mask.dim() == 4 and mask.size(1) == 1 < mask.size(2) for mask in m.given_masks
        ),
        a_mask_for_each_head_and_all_queries=lambda m: any(
            mask.dim() == 4 and mask.size(2) == 1 < mask.size(1) for mask in m.given_masks
        ),
        a_mask_that_is_not_contiguous=lambda m: any(not mask.is_contiguous() for mask in m.given_masks),
        a_mask_of_two_axes_and_gradients=lambda m: (
            torch.is_grad_enabled() and any(mask.dim() == 2 for mask in m.given_masks)
        ),
        a_mask_that_allows_all=lambda m: any(bool(mask.all()) for mask in m.given_masks),
        a_mask_that_allows_all_in_the_first_sentence=lambda m: any(
            is_free_in_one(mask, 0, place=0) for mask in m.given_masks
        ),
        a_mask_that_allows_all_in_the_last_head=lambda m: any(
            is_free_in_one(mask, 1, place=-1) for mask in m.given_masks
        ),
        a_mask_that_allows_all_to_the_last_query=lambda m: any(
            is_free_in_one(mask, 2, place=-1) for mask in m.given_masks
        ),
    )
    | under(
        "masks",
        ["scaled_dot_product_attention"],  # what the others do with such a row is the attention's affair
        a_query_that_may_see_nothing=lambda m: any(not bool(mask.any(dim=-1).all()) for mask in m.given_masks),
    )
    | under(
        "values",
        ON_FLOATS,
        exact_zeros=lambda m: any(bool((tensor == 0).any()) for tensor in m.floats),
        very_large_values=lambda m: any(size > 1e3 for size in largest_of(m.floats)),
        very_small_values=lambda m: any(size < 1e-2 for size in largest_of(m.floats)),
        equal_values=lambda m: any(has_equal_row(tensor) for tensor in m.floats),
    )
)
