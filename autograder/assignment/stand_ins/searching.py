"""Searches with a submission's `beam_decode`."""

from collections.abc import Callable, Sequence
from typing import Any

from .arguments import Oracle


def search(decode: Callable[..., Any], how: dict[str, Any]) -> tuple[Any, bool]:
    """What a search finds; `how` has the arguments of `_search` by name."""
    return _search(decode, **how)


def _search(
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
