"""What component tests do not judge: attention in three other layouts, the end of a stack, data; and all decoders."""

import re

import pytest
import torch
from torch import nn

from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT, REFERENCE, ROOT
from given.decoding import choose_search
from given.extras.reference_layers import CachedModel
from given.package import Package
from reference import attention
from reference.attention import MultiHeadedAttention
from reference.data import LONGEST, Batch, BatchLoader, DataError, read_pairs
from reference.decode import beam_decode, greedy_decode
from reference.masks import causal_mask, diagonal_mask, padding_mask
from reference.model import Encoder, Transformer
from reference.vocab import BOS_ID, EOS_ID, PAD_ID, SPECIAL_TOKENS, UNK_ID, Vocabulary
from validity.variants import read_cells, read_variants


@pytest.fixture(autouse=True)
def _same_models_in_any_order_of_tests():
    torch.manual_seed(1)


def test_pre_norm_stack_ends_with_a_norm():
    encoder = Encoder(12, 3, 20, 2, norm_first=True).eval()
    output, _ = encoder(10 * torch.randn(2, 4, 12), None)
    torch.testing.assert_close(output, nn.functional.layer_norm(output, (12,)), rtol=1e-4, atol=1e-4)


def test_forward():
    model = Transformer(9, 8, 16, 4, 24, 2).eval()
    src, tgt = torch.randint(4, 9, (3, 5)), torch.randint(3, 8, (3, 4))
    src[1, 3:] = 0
    mask = padding_mask(src, 0)
    memory, _ = model.encode(src, mask)
    expected = model.get_predictions(model.decode(tgt, memory, mask, causal_mask(4))[0])
    torch.testing.assert_close(model(src, tgt, mask), expected)
    torch.testing.assert_close(model(src, tgt, mask, causal_mask(4), mask), expected)
    assert not torch.allclose(model(src, tgt), expected), "without a mask, padding is attended to"


VARIANTS = ASSIGNMENT / "proof" / "variants"
CELLS = {cell.name: cell for path in VARIANTS.glob("attention*.py") for cell in read_cells(path)}
ROLES, PARTS = ("query", "key", "value"), ("weight", "bias")


def as_head_modules(state, n_heads):
    """Each head takes its rows of the matrix of a role: `nn.Linear` has its weight as (outputs, inputs)."""
    return {
        f"heads.{head}.project_{role}.{part}": rows
        for role in ROLES
        for part in PARTS
        for head, rows in enumerate(state[f"project_{role}.{part}"].chunk(n_heads))
    } | {f"project_output.{part}": state[f"project_output.{part}"] for part in PARTS}


def as_fused(state, n_heads):
    """The three matrices, one below the other."""
    return {
        f"project_inputs.{part}": torch.cat([state[f"project_{role}.{part}"] for role in ROLES]) for part in PARTS
    } | {f"project_output.{part}": state[f"project_output.{part}"] for part in PARTS}


def as_einsum(state, n_heads):
    """Inputs before outputs, and an axis for the heads: (h, d, d_head), and (h, d_head, d) for the output."""
    moved = {
        "output_weight": state["project_output.weight"].T.unflatten(0, (n_heads, -1)),
        "output_bias": state["project_output.bias"],
    }
    for role in ROLES:
        weight, bias = (state[f"project_{role}.{part}"].unflatten(0, (n_heads, -1)) for part in PARTS)
        moved |= {f"{role}_weight": weight.mT, f"{role}_bias": bias[:, None]}
    return moved


WAYS = {"head_modules_with_bias": as_head_modules, "fused": as_fused, "einsum_with_bias": as_einsum}
"""For each variant, the reference's parameters (or their gradients) in its layout."""


def masks(b, h, q, k):
    """None, and one mask of each shape that the contract allows; none forbids a whole row."""
    shapes = [(q, k), (b, 1, 1, k), (b, 1, q, k), (b, h, q, k), (h, q, k)]
    return [None, *((torch.rand(shape) < 0.6) | (torch.arange(k) == 0) for shape in shapes)]


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("d, h, kind", [(12, 1, "self"), (12, 3, "cross"), (8, 8, "all different")])
def test_equal_output_weights_and_gradients(name, d, h, kind):
    names = dict(vars(attention))
    exec(CELLS[name].text, names)
    reference, way = MultiHeadedAttention(d, h).double(), names["MultiHeadedAttention"](d, h).double()
    way.load_state_dict(WAYS[name](reference.state_dict(), h))
    b, q, k = 3, 5, 5 if kind == "self" else 7
    query = torch.randn(b, q, d).double()
    key = query if kind == "self" else torch.randn(b, k, d).double()
    value = torch.randn(b, k, d).double() if kind == "all different" else key
    for mask in masks(b, h, q, k):
        results = []
        for module in (reference, way):
            module.zero_grad()
            output, weights = module(query, key, value, mask)
            output.square().sum().backward()
            results.append((output, weights, {name: parameter.grad for name, parameter in module.named_parameters()}))
        (output, weights, gradients), (other_output, other_weights, other_gradients) = results
        torch.testing.assert_close(other_output, output, rtol=0, atol=1e-12)
        torch.testing.assert_close(other_weights, weights, rtol=0, atol=1e-12)
        mapped = WAYS[name](gradients, h)  # the layouts only move numbers, so gradients move alike
        torch.testing.assert_close(other_gradients, mapped, rtol=1e-9, atol=1e-10)


def test_each_way_is_judged_in_the_proof_and_shown_on_the_page(reference):
    variants = {variant.name for variant in read_variants(read_assignment(), reference)}
    page = (ROOT / "docs/explanation/four-attentions.md").read_text(encoding="utf-8")
    for name in WAYS:
        path = CELLS[name].path.relative_to(ROOT).as_posix()
        assert f'\n--8<-- "{path}:{name}"\n' in page and name in variants
    shown = int(re.search(r'^--8<-- "reference/attention.py:(\d+)"$', page, re.MULTILINE)[1])  # to the end of the file
    text = (REFERENCE / "attention.py").read_text(encoding="utf-8")
    assert text.splitlines()[shown - 1].startswith("class MultiHeadedAttention")


def test_unknown_and_rare_tokens_become_unk():
    vocab = Vocabulary.from_counts({"a": 2, "b": 1}, min_count=2)
    assert vocab.encode(["a", "b", "c"]) == [len(SPECIAL_TOKENS), UNK_ID, UNK_ID]


def test_pairs_are_read(tmp_path):
    path = tmp_path / "pairs"
    path.write_bytes("\ufeffje suis|||i m\r\nil est\u2028la|||he is here\n".encode())
    assert read_pairs(path) == [(["je", "suis"], ["i", "m"]), (["il", "est", "la"], ["he", "is", "here"])]


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "the file is empty"),
        (b"a|||b\nno separator\n", ":2: expected `source|||target`, found 'no separator'"),
        (b"a|||\n", ":1: expected"),
        (b"a|||b|||c\n", ":1: expected"),
        (b"\xff\xfe", "not UTF-8 text"),
        (b"a|||b\n" + b"a " * 513 + b"|||b\n", ":2: a source of 513 tokens, expected at most 512"),
        (b"a|||" + b"b " * 512 + b"\n", ":1: a target of 512 tokens, expected at most 511"),
    ],
)
def test_bad_pairs_are_refused_with_their_place(tmp_path, content, message):
    path = tmp_path / "pairs"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_pairs(path)
    assert message in str(caught.value)


def test_the_longest_sides_are_what_the_model_can_read():
    model = Transformer(9, 9, 8, 2, 8, 1)

    def decode(n_source, n_target):
        batch = Batch.from_ids([[5] * n_source], [[6] * n_target])
        memory, _ = model.encode(batch.src, batch.encoder_mask)
        return model.decode(batch.tgt_input, memory, batch.src_mask, batch.tgt_mask)[0]

    source, target = LONGEST.values()
    assert decode(source, target).shape == (1, 512, 8)
    for longer in (source + 1, 1), (1, target + 1):
        with pytest.raises(ValueError, match="513 positions"):
            decode(*longer)


def test_batch_and_its_masks():
    batch = Batch.from_ids([[5, 6, 7], [8]], [[9], [10, 11]])
    assert batch.tgt_input.tolist() == [[BOS_ID, 9, PAD_ID], [BOS_ID, 10, 11]]
    assert batch.labels.tolist() == [[9, EOS_ID, PAD_ID], [10, 11, EOS_ID]]
    assert batch.src_mask.tolist() == [[[[True] * 3]], [[[True, False, False]]]]
    assert batch.encoder_mask is batch.src_mask
    assert batch.tgt_mask[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, False]]


@pytest.mark.parametrize("bucketing", [False, True])
@pytest.mark.parametrize("size", [1, 7, 100])
def test_every_pair_comes_once_an_epoch_and_the_order_changes(bucketing, size):
    pairs = [([str(i)] * (1 + i % 9), [str(i)]) for i in range(100)]
    vocab = Vocabulary.from_counts({str(i): 1 for i in range(100)})
    loader = BatchLoader(pairs, vocab, vocab, size, bucketing=bucketing, seed=4)
    seen = [[row[0] for batch in loader.epoch(number) for row in batch.src.tolist()] for number in (0, 0, 1)]
    assert sorted(seen[0]) == sorted(vocab.encode([str(i) for i in range(100)]))
    assert seen[0] == seen[1]
    assert seen[0] != seen[2]
    assert len(list(loader.epoch(0))) == len(loader)


PACKAGE = Package("reference")
IDS = {"bos_id": 1, "eos_id": 2, "pad_id": 0}


def plain_greedy(model, src, src_mask, encoder_mask, max_length):
    """One sentence at a time, the whole prefix again at each step: slow and obviously right."""
    model.eval()
    sentences = []
    for row in range(src.size(0)):
        memory, _ = model.encode(src[row : row + 1], encoder_mask[row : row + 1])
        ids = [1]
        while len(ids) <= max_length and ids[-1] != 2:
            output, _, _ = model.decode(torch.tensor([ids]), memory, src_mask[row : row + 1], causal_mask(len(ids)))
            ids.append(int(model.get_predictions(output)[0, -1].argmax()))
        sentences.append([token for token in ids[1:] if token != 2])
    return sentences


def random_model(norm_first, n_layers=2, tgt_vocab_size=11):
    """Large random matrices, so that sentences differ and end at different lengths."""
    model = Transformer(12, tgt_vocab_size, 16, 4, 24, n_layers, norm_first=norm_first)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.copy_(torch.randn_like(parameter))
        model.output_projection.bias[2] += 3.0
        model.output_projection.bias[0] = -1e4  # a trained model never says <pad>
    return model.double()


def random_batch(n_sentences, longest):
    src = torch.randint(3, 12, (n_sentences, longest))
    src[torch.arange(longest) >= torch.randint(1, longest + 1, (n_sentences, 1))] = 0
    return src, padding_mask(src, 0)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("norm_first, diagonal", [(False, True), (True, False)])
def test_all_decoders_agree(cached, norm_first, diagonal):
    n_models, lengths = 0, set()
    while n_models < 2 or len(lengths) == 1:  # sentences of one length alone test little
        model = random_model(norm_first)
        src, src_mask = random_batch(8, 6)
        encoder_mask = src_mask & diagonal_mask(6, 2) if diagonal else src_mask.expand(-1, -1, 6, -1)
        with torch.no_grad():
            expected = plain_greedy(model, src, src_mask, encoder_mask, 9)
        model.train()
        searched = CachedModel(PACKAGE, model) if cached else model
        assert greedy_decode(searched, src, src_mask, encoder_mask, **IDS, max_length=9) == expected
        assert model.training
        n_models, lengths = n_models + 1, lengths | {len(line) for line in expected}


# Two hypotheses with the same score to the last bit do not occur in float64; in float32 the order in which sums are
# rounded could decide between neighbours, so everything here is compared in float64.
@pytest.mark.parametrize("beam_size, penalty", [(1, 0.6), (2, 0.0), (5, 0.6), (11, -0.5), (30, 1.0)])
def test_beam_search_with_the_cache_finds_the_same(beam_size, penalty):
    n_models, lengths = 0, set()
    while n_models < 2 or len(lengths) == 1:  # some models have nothing to say
        model = random_model(norm_first=n_models % 2 == 1)
        src, mask = random_batch(7, 6)
        options = {**IDS, "max_length": 9, "beam_size": beam_size, "length_penalty": penalty}
        expected = beam_decode(model, src, mask, mask & diagonal_mask(6, 2), **options)
        assert beam_decode(CachedModel(PACKAGE, model), src, mask, mask & diagonal_mask(6, 2), **options) == expected
        n_models, lengths = n_models + 1, lengths | {len(ids) for ids in expected}


def test_generate_does_what_the_searches_do():
    model = random_model(True)
    src, mask = random_batch(9, 5)
    assert choose_search(PACKAGE, model, is_cached=False) is greedy_decode is not choose_search(PACKAGE, model)
    assert model.generate(src, **IDS, max_length=7) == greedy_decode(model, src, mask, **IDS, max_length=7)
    expected = beam_decode(model, src, mask, **IDS, max_length=7, beam_size=3)
    assert model.generate(src, **IDS, max_length=7, beam_size=3) == expected
    assert model.generate(src, **IDS, max_length=7, search=choose_search(PACKAGE, model, 3)) == expected
