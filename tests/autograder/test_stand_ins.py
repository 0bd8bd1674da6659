"""The stand-ins' own laws, on which the tests of the components rely."""

import pytest
import torch

from autograder.worker.stand_ins import look_up


@pytest.mark.parametrize("dtype, lowest", [(torch.float64, -600.0), (torch.float32, -80.0)])
def test_weights_sum_to_one_however_small_the_scores(dtype, lowest):
    scores = torch.linspace(lowest, 80, 200, dtype=dtype)[:, None, None]
    key = torch.ones(1, 3, 1, dtype=dtype)
    _, weights = look_up(scores, key, key, None)
    assert torch.equal(weights, weights.clamp(0, 1))
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(200, 1, dtype=dtype))
    _, alone = look_up(scores, key[:, :1], key[:, :1], None)
    assert torch.equal(alone, torch.ones_like(alone))


def test_weights_are_zero_where_nothing_is_allowed():
    query = torch.ones(1, 1, 2, 4, dtype=torch.float64)
    context, weights = look_up(query, query, query, torch.tensor([[True, False], [False, False]]))
    assert weights.tolist() == [[[[1.0, 0.0], [0.0, 0.0]]]]
    assert not context[..., 1, :].any()
