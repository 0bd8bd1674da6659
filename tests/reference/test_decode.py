"""Greedy search and beam search, plain and with the key/value cache."""

import math
from itertools import product

import pytest
import torch
from torch import nn

from given.decoding import choose_search
from given.extras.reference_layers import CachedModel
from given.package import Package
from reference.decode import beam_decode, greedy_decode
from reference.masks import causal_mask, diagonal_mask, padding_mask
from reference.model import Transformer

REFERENCE = Package("reference")
IDS = {"bos_id": 1, "eos_id": 2, "pad_id": 0}


@pytest.fixture(autouse=True)
def _same_models_in_any_order_of_tests():
    torch.manual_seed(1)


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


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("norm_first, diagonal", [(False, True), (True, False)])
def test_all_decoders_agree(cached, norm_first, diagonal):
    n_models, lengths = 0, set()
    while n_models < 2 or len(lengths) == 1:  # sentences of one length alone test little
        model = random_model(norm_first)
        src = torch.randint(3, 12, (8, 6))
        src[torch.arange(6) >= torch.randint(1, 7, (8, 1))] = 0
        src_mask = padding_mask(src, 0)
        encoder_mask = src_mask & diagonal_mask(6, 2) if diagonal else src_mask.expand(-1, -1, 6, -1)
        with torch.no_grad():
            expected = plain_greedy(model, src, src_mask, encoder_mask, 9)
        model.train()
        searched = CachedModel(REFERENCE, model) if cached else model
        assert greedy_decode(searched, src, src_mask, encoder_mask, **IDS, max_length=9) == expected
        assert model.training
        n_models, lengths = n_models + 1, lengths | {len(line) for line in expected}


class Table(nn.Module):
    """Next-token log-probabilities that depend on the token before alone."""

    def __init__(self, scores):
        super().__init__()
        self.scores = scores

    def encode(self, src, mask):
        return src[..., None].double(), []

    def decode(self, tgt, memory, src_mask, tgt_mask):
        return self.scores[tgt], [], []

    def get_predictions(self, output):
        return output.log_softmax(-1)


def best_by_trying_all(scores, max_length, penalty):
    log_p = scores.log_softmax(-1)
    best = (-math.inf, [])
    for length in range(1, max_length + 1):
        for ids in product(range(scores.size(0)), repeat=length):
            ended = ids[-1] == 2
            if 2 in ids[:-1] or not (ended or length == max_length):
                continue
            total = sum(float(log_p[a, b]) for a, b in zip((1, *ids), ids, strict=False))
            best = max(best, (total / length**penalty, [token for token in ids if token != 2]))
    return best[1]


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
def test_a_beam_as_wide_as_everything_finds_the_best(penalty):
    for _ in range(5):
        scores = torch.randn(5, 5, dtype=torch.float64) * 2
        scores[:, 0] = -1e4
        src = torch.full((2, 3), 4)
        options = {**IDS, "max_length": 4, "beam_size": 5**4, "length_penalty": penalty}
        sentences = beam_decode(Table(scores), src, padding_mask(src, 0), **options)
        assert sentences == [best_by_trying_all(scores, 4, penalty)] * 2


def random_batch(n_sentences, longest):
    src = torch.randint(3, 12, (n_sentences, longest))
    src[torch.arange(longest) >= torch.randint(1, longest + 1, (n_sentences, 1))] = 0
    return src, padding_mask(src, 0)


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
        assert beam_decode(CachedModel(REFERENCE, model), src, mask, mask & diagonal_mask(6, 2), **options) == expected
        n_models, lengths = n_models + 1, lengths | {len(ids) for ids in expected}


def test_generate_does_what_the_searches_do():
    model = random_model(True)
    src, mask = random_batch(9, 5)
    assert choose_search(REFERENCE, model, is_cached=False) is greedy_decode is not choose_search(REFERENCE, model)
    assert model.generate(src, **IDS, max_length=7) == greedy_decode(model, src, mask, **IDS, max_length=7)
    expected = beam_decode(model, src, mask, **IDS, max_length=7, beam_size=3)
    assert model.generate(src, **IDS, max_length=7, beam_size=3) == expected
    assert model.generate(src, **IDS, max_length=7, search=choose_search(REFERENCE, model, 3)) == expected
