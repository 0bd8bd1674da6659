"""Greedy search, the cached decoder, beam search."""

import math
from itertools import product

import pytest
import torch
from torch import nn

from reference.decode import beam_decode, cut_sentence, greedy_decode
from reference.masks import causal_mask, diagonal_mask, padding_mask
from reference.model import Transformer
from reference.translation.cached_greedy import cached_greedy_decode

IDS = {"bos_id": 1, "eos_id": 2, "pad_id": 0}


def plain_greedy(model, src, src_mask, encoder_mask, max_length):
    """One sentence at a time, the whole prefix again at each step: slow and obviously right."""
    model.eval()
    found = []
    for row in range(src.size(0)):
        memory, _ = model.encode(src[row : row + 1], encoder_mask[row : row + 1])
        ids = [1]
        while len(ids) <= max_length and ids[-1] != 2:
            output, _, _ = model.decode(torch.tensor([ids]), memory, src_mask[row : row + 1], causal_mask(len(ids)))
            ids.append(int(model.get_predictions(output)[0, -1].argmax()))
        found.append([token for token in ids[1:] if token != 2])
    return found


def random_model(norm_first, n_layers=2):
    """Large random matrices, so that sentences differ and end at different lengths."""
    model = Transformer(12, 11, 16, 4, 24, n_layers, norm_first=norm_first)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.copy_(torch.randn_like(parameter))
        model.output_projection.bias[2] += 3.0
        model.output_projection.bias[0] = -1e4  # a trained model never says <pad>
    return model.double()


@pytest.mark.parametrize("decode", [greedy_decode, cached_greedy_decode])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("diagonal", [False, True])
def test_all_decoders_agree(decode, norm_first, diagonal):
    lengths = set()
    for _ in range(8):
        model = random_model(norm_first)
        src = torch.randint(3, 12, (8, 6))
        src[torch.arange(6) >= torch.randint(1, 7, (8, 1))] = 0
        src_mask = padding_mask(src, 0)
        encoder_mask = src_mask & diagonal_mask(6, 2) if diagonal else src_mask.expand(-1, -1, 6, -1)
        with torch.no_grad():
            expected = plain_greedy(model, src, src_mask, encoder_mask, 9)
        model.train()
        assert decode(model, src, src_mask, encoder_mask, **IDS, max_length=9) == expected
        assert model.training
        lengths |= {len(line) for line in expected}
    assert len(lengths) > 1, "sentences of one length alone test little"


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
        found = beam_decode(Table(scores), src, padding_mask(src, 0), **options)
        assert found == [best_by_trying_all(scores, 4, penalty)] * 2


def test_a_beam_of_one_is_greedy():
    for norm_first in (False, True):
        model = random_model(norm_first)
        src = torch.randint(3, 12, (9, 5))
        mask = padding_mask(src, 0)
        greedy = greedy_decode(model, src, mask, **IDS, max_length=8)
        assert beam_decode(model, src, mask, **IDS, max_length=8, beam_size=1) == greedy


@pytest.mark.parametrize(
    "ids, expected",
    [([5, 2, 7], [5]), ([2], []), ([5, 6], [5, 6]), ([5, 0, 0], [5]), ([0, 5, 2, 0], [0, 5]), ([], [])],
)
def test_sentences_are_cut(ids, expected):
    assert cut_sentence(ids, 2, 0) == expected
