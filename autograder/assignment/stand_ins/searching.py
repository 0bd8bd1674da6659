"""Searches with a submission's `beam_decode`; several searches within one request."""

from collections.abc import Callable, Sequence
from typing import Any

from .arguments import Oracle


def search_in_turn(decode: Callable[..., Any], searches: Sequence[dict[str, Any]]) -> list[tuple[Any, bool]]:
    """What several searches find; each as `search` takes it."""
    return [search(decode, **one) for one in searches]


def search(
    decode: Callable[..., Any],
    oracle: Sequence[Any],
    is_training: bool,
    given: Sequence[Any],
    options: dict[str, Any],
    is_mixed: bool = False,
) -> tuple[Any, bool]:
    """What a search finds with an `Oracle` for a model, and whether that is in train mode afterwards.

    Args:
        decode: of the submission.
        oracle: arguments that make the model.
        is_training: the mode in which the search gets it.
        given: the search's arguments after the model.
        options: and by keyword.
        is_mixed: a part of the model is in the other mode.
    """
    model = Oracle(*oracle).train(is_training)
    model.part.train(is_training is not is_mixed)
    found = decode(model, *given, **options)
    return found, model.training
