"""What one sees of faulty code from outside, and what has to be observed to tell.

Each component is called a few times, before and after a change of its code, with the same inputs and parameters.

    seeing.py     what a symptom is, and questions to results
    embedding.py, attention.py, layers.py
                  the calls and the symptoms of each component
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.testing.case import Case
from autograder.testing.under_test import SubmissionUnderTest

from .attention import ATTENTION, MULTI_HEAD, look_at_attention, look_at_multi_head
from .embedding import EMBEDDING, look_at_embedding
from .layers import (
    DECODER_LAYER,
    ENCODER_LAYER,
    FEED_FORWARD,
    LAYER_NORM,
    look_at_decoder_layer,
    look_at_encoder_layer,
    look_at_feed_forward,
    look_at_layer_norm,
)
from .seeing import Compared, Note, Observed, Seen

__all__ = ["SYMPTOMS", "observe"]

LOOKS: Mapping[str, Callable[[SubmissionUnderTest, Case, Note], None]] = {
    "embedding.InputEmbedding": look_at_embedding,
    "attention.scaled_dot_product_attention": look_at_attention,
    "attention.MultiHeadedAttention": look_at_multi_head,
    "layers.LayerNorm": look_at_layer_norm,
    "layers.FeedForward": look_at_feed_forward,
    "layers.EncoderLayer": look_at_encoder_layer,
    "layers.DecoderLayer": look_at_decoder_layer,
}
SYMPTOMS: Mapping[str, Sequence[Seen | Compared]] = {
    "embedding.InputEmbedding": EMBEDDING,
    "attention.scaled_dot_product_attention": ATTENTION,
    "attention.MultiHeadedAttention": MULTI_HEAD,
    "layers.LayerNorm": LAYER_NORM,
    "layers.FeedForward": FEED_FORWARD,
    "layers.EncoderLayer": ENCODER_LAYER,
    "layers.DecoderLayer": DECODER_LAYER,
}


def observe(component: str, submission: SubmissionUnderTest, case: Case) -> Observed:
    """The results that the symptoms of a component are told by, and "raised"."""
    found: dict[str, Any] = {"raised": False}

    def note(name: str, see: Callable[[], Any]) -> None:
        try:
            found[name] = see()
        except Exception:
            found["raised"] = True

    LOOKS[component](submission, case, note)
    return found
