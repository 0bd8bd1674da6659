"""Conditions on sizes: some that coincide, some of 1, large ones."""

from collections.abc import Callable

from .components import ON_TENSORS, WITH_HEADS, WITH_MEMORY, WITH_NETWORK
from .condition import Condition, under
from .moment import Moment


def has(letters: str, rule: Callable[..., bool]) -> Callable[[Moment], bool]:
    """A rule about sizes; it does not hold where one of them is not known."""

    def holds(moment: Moment) -> bool:
        sizes = moment.sizes()
        return all(letter in sizes for letter in letters) and rule(*(sizes[letter] for letter in letters))

    return holds


SIZES: dict[str, Condition] = (
    under(
        "sizes that coincide",
        WITH_MEMORY,
        as_many_queries_as_keys=has("qk", lambda q, k: q == k),
        as_many_queries_as_keys_and_no_mask=lambda m: (
            all(mask is None for mask in m.masks) and has("qk", lambda q, k: q == k)(m)
        ),
    )
    | under(
        "sizes that coincide",
        ON_TENSORS,
        as_many_sentences_as_positions=has("bq", lambda b, q: b == q),
        as_many_positions_as_features=has("qd", lambda q, d: q == d),
        as_many_sentences_as_features=has("bd", lambda b, d: b == d),
    )
    | under(
        "sizes that coincide",
        WITH_NETWORK,
        d_ff_equals_d_model=has("fd", lambda f, d: f == d),
        d_ff_below_d_model=has("fd", lambda f, d: f < d),
    )
    | under("sizes that coincide", WITH_HEADS, one_feature_a_head=has("hd", lambda h, d: h == d))
    | under(
        "sizes that coincide",
        ["Transformer"],
        vocabularies_of_equal_size=lambda m: m.settings["src_vocab_size"] == m.settings["tgt_vocab_size"],
    )
    | under("sizes of 1", ON_TENSORS, one_sentence=has("b", lambda b: b == 1), one_position=has("q", lambda q: q == 1))
    | under("sizes of 1", WITH_MEMORY, one_key=has("k", lambda k: k == 1))
    | under("sizes of 1", ON_TENSORS, one_feature=has("d", lambda d: d == 1))
    | under("sizes of 1", ["scaled_dot_product_attention", *WITH_HEADS], one_head=has("h", lambda h: h == 1))
    | under("sizes of 1", ["Encoder", "Decoder", "Transformer"], one_layer=has("n", lambda n: n == 1))
    | under(
        "large sizes",
        ON_TENSORS,
        more_than_12_positions=has("q", lambda q: q > 12),
        more_than_32_features=has("d", lambda d: d > 32),
        more_than_8_sentences=has("b", lambda b: b > 8),
    )
    | under("large sizes", WITH_MEMORY, more_than_64_keys=has("k", lambda k: k > 64))
    | under("large sizes", ["Encoder", "Decoder", "Transformer"], more_than_10_layers=has("n", lambda n: n > 10))
    | under(
        "large sizes",
        ["InputEmbedding", "Transformer"],
        ids_from_256_on=lambda m: any(int(t.max()) >= 256 for t in m.tensors if not t.is_floating_point()),
    )
    | under(
        "large sizes",
        ["InputEmbedding"],
        the_last_id=lambda m: int(m.arguments["tokens"].max()) == m.settings["vocab_size"] - 1,
    )
)
