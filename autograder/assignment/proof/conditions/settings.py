"""Conditions on settings: of layers, of an epoch of training, of the diagonal mask, of decoding."""

from collections.abc import Callable
from typing import Any

import torch

from .components import WITH_DROPOUT
from .condition import Condition, under
from .moment import Moment


def batches_of(moment: Moment) -> list[Any]:
    """The batches of an epoch; none where they are not in a list."""
    batches = moment.arguments["batches"]
    return batches if isinstance(batches, list) else []


def every(test: Callable[[Any], bool]) -> Callable[[Moment], bool]:
    """Whether there are batches, and all of them are so."""
    return lambda moment: bool(batches_of(moment)) and all(map(test, batches_of(moment)))


SETTINGS: dict[str, Condition] = (
    under(
        "settings",
        WITH_DROPOUT,
        dropout_0=lambda m: m.settings["dropout"] == 0,
        dropout_1=lambda m: m.settings["dropout"] == 1,
    )
    | under(
        "settings",
        ["LayerNorm"],
        an_epsilon_that_is_given=lambda m: m.settings["epsilon"] not in (0, 1e-6),
        epsilon_0=lambda m: m.settings["epsilon"] == 0,
    )
    | under(
        "settings",
        ["train_epoch"],
        clipping_at_0=lambda m: m.get("max_grad_norm") == 0,
        another_ignore_index=lambda m: m.get("criterion").ignore_index != 0,
        no_label_smoothing=lambda m: m.get("criterion").label_smoothing == 0,
        accumulation_beyond_the_batches=lambda m: m.get("accumulate") > len(batches_of(m)) > 0,
        a_complete_last_group=lambda m: (
            m.get("accumulate") > 1 and len(batches_of(m)) > 0 == len(batches_of(m)) % m.get("accumulate")
        ),
        one_batch=lambda m: len(batches_of(m)) == 1,
        batches_of_one_sentence=every(lambda batch: len(batch.labels) == 1),
        targets_of_one_token=every(lambda batch: batch.labels.size(1) == 1),
        sources_as_long_as_targets=every(lambda batch: batch.labels.size(1) == batch.src.size(1)),
        a_model_in_eval_mode=lambda m: not m.get("model").training,
        a_model_in_eval_mode_again=lambda m: not m.get("model").training and m.calls > 0,
        a_batch_with_one_label=lambda m: any(
            int((batch.labels != m.get("criterion").ignore_index).sum()) == 1 for batch in batches_of(m)
        ),
        a_model_in_float32=lambda m: next(m.get("model").parameters()).dtype == torch.float32,
        a_scheduler_and_clipping=lambda m: m.get("scheduler") is not None and m.get("max_grad_norm") is not None,
    )
    | under(
        "settings",
        ["diagonal_mask"],
        one_position_to_mask=lambda m: m.get("length") == 1,
        more_than_64_positions=lambda m: m.get("length") > 64,
        a_width_of_0=lambda m: m.get("width") == 0,
        a_band_wider_than_the_mask=lambda m: m.get("width") >= m.get("length"),
        no_random_cells=lambda m: m.get("random_prob") == 0,
        a_mask_of_three_positions=lambda m: m.get("length") == 3,
        a_generator_that_is_given=lambda m: m.get("generator") is not None,
    )
    | under(
        "settings",
        ["beam_decode"],
        a_beam_of_one=lambda m: m.get("beam_size") == 1,
        a_beam_wider_than_the_vocabulary=lambda m: m.get("beam_size") > 16,
        one_token_at_most=lambda m: m.get("max_length") == 1,
        one_sentence_to_translate=lambda m: m.get("src").size(0) == 1,
        sources_of_one_token=lambda m: m.get("src").size(1) == 1,
        no_length_penalty=lambda m: m.get("length_penalty") == 0,
        a_model_for_decoding_in_eval_mode=lambda m: not m.get("model").training,
        ids_in_another_order=lambda m: m.get("eos_id") < m.get("bos_id"),
    )
)
