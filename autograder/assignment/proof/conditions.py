"""Conditions under which a component may be wrong although it is right otherwise.

`python -m validity prove --conditions` puts each known fault under each of them: right code everywhere else, the fault
where the condition holds. A condition is a question about one call of a component: about the sizes of its arguments,
its settings, masks, values, mode and precision, and about what has happened to the object before.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Moment:
    """One call of a component.

    Attributes:
        component: "module.Name".
        settings: the constructor's arguments by name, defaults included; a function has none.
        arguments: the call's arguments by name, defaults included.
        module: the object; None for a function.
        calls: how many calls of this object, or function, came before.
        last: the arguments of the call before.
        is_copied: whether the object is a deep copy.
        is_restored: whether it has loaded a state dict.
        has_other_weights: whether its parameters have changed since its first call.
    """

    component: str
    settings: Mapping[str, Any]
    arguments: Mapping[str, Any]
    module: nn.Module | None = None
    calls: int = 0
    last: Mapping[str, Any] | None = None
    is_copied: bool = False
    is_restored: bool = False
    has_other_weights: bool = False

    def get(self, name: str) -> Any:
        """An argument of the call, or a setting; None where there is neither."""
        return self.arguments.get(name, self.settings.get(name))

    @property
    def masks(self) -> list[Tensor | None]:
        """The masks among the arguments."""
        return [value for name, value in self.arguments.items() if name.endswith("mask")]

    @property
    def given_masks(self) -> list[Tensor]:
        """Those that are not None."""
        return [mask for mask in self.masks if isinstance(mask, Tensor)]

    @property
    def tensors(self) -> list[Tensor]:
        """The other tensors among the arguments."""
        pairs = self.arguments.items()
        return [value for name, value in pairs if isinstance(value, Tensor) and not name.endswith("mask")]

    @property
    def floats(self) -> list[Tensor]:
        """Those of them that hold no ids."""
        return [tensor for tensor in self.tensors if tensor.is_floating_point() and tensor.numel()]

    def sizes(self) -> dict[str, int]:
        """Sizes by letter: b batch · q queries or positions · k keys or positions of the memory · d features · h heads.

        A letter whose size the call does not tell is missing.
        """
        found: dict[str, int] = {}
        first = next(iter(self.tensors), None)
        name = self.component.split(".")[1]
        if name == "scaled_dot_product_attention":
            b, h, q, d = self.arguments["query"].shape
            return {"b": b, "h": h, "q": q, "k": self.arguments["key"].size(-2), "d": d}
        if first is not None and 1 < first.dim() < 4:
            found |= {"b": first.size(0), "q": first.size(1)}
        for source in (self.arguments.get("key"), self.arguments.get("memory")):
            if isinstance(source, Tensor):
                found["k"] = source.size(1)
        found |= {letter: self.settings[key] for letter, key in LETTERS.items() if key in self.settings}
        if "length" in self.arguments:
            found["q"] = self.arguments["length"]
        return found


LETTERS = {"d": "d_model", "h": "n_heads", "f": "d_ff", "n": "n_layers"}
NN = [
    "InputEmbedding",
    "MultiHeadedAttention",
    "LayerNorm",
    "FeedForward",
    "EncoderLayer",
    "DecoderLayer",
    "Encoder",
    "Decoder",
    "Transformer",
]
WITH_HEADS = ["MultiHeadedAttention", "EncoderLayer", "DecoderLayer", "Encoder", "Decoder", "Transformer"]
WITH_MASKS = ["scaled_dot_product_attention", *WITH_HEADS]
ON_FLOATS = ["scaled_dot_product_attention", *(name for name in NN if name not in ("InputEmbedding", "Transformer"))]
ON_TENSORS = ["scaled_dot_product_attention", *NN]
WITH_MEMORY = ["scaled_dot_product_attention", "MultiHeadedAttention", "DecoderLayer", "Decoder", "Transformer"]
WITH_NETWORK = ["FeedForward", "EncoderLayer", "DecoderLayer", "Encoder", "Decoder", "Transformer"]
WITH_DROPOUT = ["EncoderLayer", "DecoderLayer", "Encoder", "Decoder", "Transformer"]
ANY = [*ON_TENSORS, "train_epoch", "diagonal_mask", "beam_decode"]


@dataclass(frozen=True)
class Condition:
    """One condition.

    Attributes:
        kind: such as "sizes that coincide".
        components: names of those that it makes sense for.
        holds: whether it holds for a call.
    """

    kind: str
    components: tuple[str, ...]
    holds: Callable[[Moment], bool]


CONDITIONS: dict[str, Condition] = {}
"""All conditions, by what holds."""


def _add(kind: str, components: list[str], **conditions: Callable[[Moment], bool]) -> None:
    for name, holds in conditions.items():
        CONDITIONS[name.replace("_", " ")] = Condition(kind, tuple(components), holds)


def _has(letters: str, rule: Callable[..., bool]) -> Callable[[Moment], bool]:
    """A rule about sizes; it does not hold where one of them is not known."""

    def holds(moment: Moment) -> bool:
        sizes = moment.sizes()
        return all(letter in sizes for letter in letters) and rule(*(sizes[letter] for letter in letters))

    return holds


def _same_shape(moment: Moment) -> bool:
    """Whether the call before had arguments of the same shapes, of which one had other contents."""
    if moment.last is None:
        return False
    old = {name: value for name, value in moment.last.items() if isinstance(value, Tensor)}
    new = {name: value for name, value in moment.arguments.items() if isinstance(value, Tensor)}
    alike = old.keys() == new.keys() and all(new[name].shape == old[name].shape for name in old)
    return alike and any(not torch.equal(new[name], old[name]) for name in old)


def _batches(moment: Moment) -> list[Any]:
    batches = moment.arguments["batches"]
    return batches if isinstance(batches, list) else []


def _every(test: Callable[[Any], bool]) -> Callable[[Moment], bool]:
    return lambda moment: bool(_batches(moment)) and all(map(test, _batches(moment)))


def _equal(tensor: Tensor) -> bool:
    return tensor.size(-1) > 1 and bool((tensor == tensor[..., :1]).all(dim=-1).any()) and tensor.dim() > 0


def _spread(tensors: list[Tensor]) -> Iterator[float]:
    return (float(tensor.detach().abs().max()) for tensor in tensors)


_add(
    "sizes that coincide",
    WITH_MEMORY,
    as_many_queries_as_keys=_has("qk", lambda q, k: q == k),
    as_many_queries_as_keys_and_no_mask=lambda m: (
        all(mask is None for mask in m.masks) and _has("qk", lambda q, k: q == k)(m)
    ),
)
_add(
    "sizes that coincide",
    ON_TENSORS,
    as_many_sentences_as_positions=_has("bq", lambda b, q: b == q),
    as_many_positions_as_features=_has("qd", lambda q, d: q == d),
    as_many_sentences_as_features=_has("bd", lambda b, d: b == d),
)
_add(
    "sizes that coincide",
    WITH_NETWORK,
    d_ff_equals_d_model=_has("fd", lambda f, d: f == d),
    d_ff_below_d_model=_has("fd", lambda f, d: f < d),
)
_add("sizes that coincide", WITH_HEADS, one_feature_a_head=_has("hd", lambda h, d: h == d))
_add(
    "sizes that coincide",
    ["Transformer"],
    vocabularies_of_equal_size=lambda m: m.settings["src_vocab_size"] == m.settings["tgt_vocab_size"],
)
_add("sizes of 1", ON_TENSORS, one_sentence=_has("b", lambda b: b == 1), one_position=_has("q", lambda q: q == 1))
_add("sizes of 1", WITH_MEMORY, one_key=_has("k", lambda k: k == 1))
_add("sizes of 1", ON_TENSORS, one_feature=_has("d", lambda d: d == 1))
_add("sizes of 1", ["scaled_dot_product_attention", *WITH_HEADS], one_head=_has("h", lambda h: h == 1))
_add("sizes of 1", ["Encoder", "Decoder", "Transformer"], one_layer=_has("n", lambda n: n == 1))
_add(
    "large sizes",
    ON_TENSORS,
    more_than_12_positions=_has("q", lambda q: q > 12),
    more_than_32_features=_has("d", lambda d: d > 32),
    more_than_8_sentences=_has("b", lambda b: b > 8),
)
_add("large sizes", WITH_MEMORY, more_than_64_keys=_has("k", lambda k: k > 64))
_add("large sizes", ["Encoder", "Decoder", "Transformer"], more_than_10_layers=_has("n", lambda n: n > 10))
_add(
    "large sizes",
    ["InputEmbedding", "Transformer"],
    ids_from_256_on=lambda m: any(int(t.max()) >= 256 for t in m.tensors if not t.is_floating_point()),
)
_add(
    "large sizes",
    ["InputEmbedding"],
    the_last_id=lambda m: int(m.arguments["tokens"].max()) == m.settings["vocab_size"] - 1,
)
_add(
    "settings",
    WITH_DROPOUT,
    dropout_0=lambda m: m.settings["dropout"] == 0,
    dropout_1=lambda m: m.settings["dropout"] == 1,
)
_add(
    "settings",
    ["LayerNorm"],
    an_epsilon_that_is_given=lambda m: m.settings["epsilon"] not in (0, 1e-6),
    epsilon_0=lambda m: m.settings["epsilon"] == 0,
)
_add(
    "settings",
    ["train_epoch"],
    clipping_at_0=lambda m: m.get("max_grad_norm") == 0,
    another_ignore_index=lambda m: m.get("criterion").ignore_index != 0,
    no_label_smoothing=lambda m: m.get("criterion").label_smoothing == 0,
    accumulation_beyond_the_batches=lambda m: m.get("accumulate") > len(_batches(m)) > 0,
    a_complete_last_group=lambda m: (
        m.get("accumulate") > 1 and len(_batches(m)) > 0 == len(_batches(m)) % m.get("accumulate")
    ),
    one_batch=lambda m: len(_batches(m)) == 1,
    batches_of_one_sentence=_every(lambda batch: len(batch.labels) == 1),
    targets_of_one_token=_every(lambda batch: batch.labels.size(1) == 1),
    sources_as_long_as_targets=_every(lambda batch: batch.labels.size(1) == batch.src.size(1)),
    a_model_in_eval_mode=lambda m: not m.get("model").training,
    a_model_in_eval_mode_again=lambda m: not m.get("model").training and m.calls > 0,
    a_batch_with_one_label=lambda m: any(
        int((batch.labels != m.get("criterion").ignore_index).sum()) == 1 for batch in _batches(m)
    ),
    a_model_in_float32=lambda m: next(m.get("model").parameters()).dtype == torch.float32,
    a_scheduler_and_clipping=lambda m: m.get("scheduler") is not None and m.get("max_grad_norm") is not None,
)
_add(
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
_add(
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
_add(
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
    a_mask_of_two_axes_and_gradients=lambda m: (
        torch.is_grad_enabled() and any(mask.dim() == 2 for mask in m.given_masks)
    ),
    a_mask_that_allows_all=lambda m: any(bool(mask.all()) for mask in m.given_masks),
)
_add(
    "masks",
    ["scaled_dot_product_attention"],  # what the others do with such a row is the attention's affair
    a_query_that_may_see_nothing=lambda m: any(not bool(mask.any(dim=-1).all()) for mask in m.given_masks),
)
_add(
    "values",
    ON_FLOATS,
    exact_zeros=lambda m: any(bool((tensor == 0).any()) for tensor in m.floats),
    very_large_values=lambda m: any(size > 1e3 for size in _spread(m.floats)),
    very_small_values=lambda m: any(size < 1e-2 for size in _spread(m.floats)),
    equal_values=lambda m: any(_equal(tensor) for tensor in m.floats),
)
_add(
    "mode and precision",
    ON_TENSORS,
    no_grad=lambda m: not torch.is_grad_enabled() and not torch.is_inference_mode_enabled(),
    inference_mode=lambda m: torch.is_inference_mode_enabled(),
    gradients_on=lambda m: torch.is_grad_enabled() and (not m.floats or any(t.requires_grad for t in m.floats)),
    tensors_that_are_not_contiguous=lambda m: any(
        not tensor.is_contiguous() for tensor in [*m.tensors, *m.given_masks]
    ),
)
_add(
    "mode and precision",
    ON_FLOATS,
    inputs_that_need_no_gradient=lambda m: torch.is_grad_enabled() and not any(t.requires_grad for t in m.floats),
)
_add("mode and precision", NN, train_mode=lambda m: m.module is not None and m.module.training)
_add("mode and precision", NN, eval_mode=lambda m: m.module is not None and not m.module.training)
_add(
    "mode and precision",
    ON_TENSORS,
    float32=lambda m: any(
        tensor.dtype == torch.float32 for tensor in (*m.floats, *(m.module.parameters() if m.module else ()))
    ),
)
_add(
    "mode and precision",
    WITH_DROPOUT,
    train_mode_and_more_than_12_positions=lambda m: (
        m.module is not None and m.module.training and m.sizes().get("q", 0) > 12
    ),
)
_add(
    "time",
    WITH_MASKS,
    no_mask_after_a_call_with_one=lambda m: (
        m.last is not None
        and any(
            isinstance(m.last.get(name), Tensor) and m.arguments[name] is None
            for name in m.arguments
            if name.endswith("mask")
        )
    ),
)
_add(
    "time",
    NN,
    other_weights_in_eval_mode_without_gradients=lambda m: (
        m.has_other_weights and not torch.is_grad_enabled() and m.module is not None and not m.module.training
    ),
)
_add("time", ANY, the_second_call=lambda m: m.calls > 0)
_add("time", ON_TENSORS, other_arguments_of_the_same_shapes=_same_shape)
_add(
    "time",
    NN,
    a_deep_copy=lambda m: m.is_copied,
    weights_from_a_state_dict=lambda m: m.is_restored,
    other_weights_than_at_first=lambda m: m.has_other_weights,
)
