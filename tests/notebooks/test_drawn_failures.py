"""Pictures of failed checks: which part of which tensor, under which mask."""

import io

import pytest
import torch
from PIL import Image

from autograder.testing.comparison import expect_close
from autograder.testing.notebook.pictures import LONGEST, cut, draw_failure
from autograder.testing.results import CheckFailed


def wrong_at(*place: int, shape: tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    """Zeros, with a one at a place, and zeros."""
    got = torch.zeros(shape)
    got[place] = 1.0
    return got, torch.zeros(shape)


def test_weights_are_cut_where_they_differ_most_and_have_their_mask():
    mask = torch.ones(3, 1, 1, 5, dtype=torch.bool)
    mask[2, ..., 4] = False
    pair = cut("weights without a mask", *wrong_at(2, 1, 3, 4, shape=(3, 2, 4, 5)), [torch.ones(9, 9).bool(), mask])
    assert pair.what == "weights without a mask (sentence 2, head 1)"
    assert pair.got.shape == (4, 5) and pair.worst == (3, 4) and pair.got[pair.worst] == 1
    assert pair.forbidden.nonzero()[:, 1].tolist() == [4] * 4
    assert pair.axes == ("query", "key")


def test_cross_attention_has_the_first_mask_and_self_attention_the_last():
    source, target = torch.ones(4, 4).bool(), torch.ones(4, 4).bool().tril()
    got, expected = wrong_at(0, 0, 0, 0, shape=(2, 2, 4, 4))
    assert not cut("cross_weights", got, expected, [source, target]).forbidden.any()
    assert cut("self_weights", got, expected, [source, target]).forbidden.any()


def test_the_picture_outlines_the_place_that_the_message_names():
    got, expected = torch.zeros(2, 3), torch.tensor([[0.5, 0, 0], [0, 0, 90.0]])
    got[1, 2] = 80.0  # differs by 10, a tenth of 90; the other by 0.5, a third of 1 + 0.5
    with pytest.raises(CheckFailed, match=r"expected: 90 at \[1, 2\]") as failed:
        expect_close(got, expected, "the output")
    assert cut("the output", *failed.value.compared).worst == (1, 2)


def test_of_a_large_matrix_the_part_around_the_place_is_shown():
    pair = cut("the output", *wrong_at(0, 60, 2, shape=(1, 80, 40)))
    assert pair.got.shape == (LONGEST, LONGEST)
    assert pair.first == (48, 0) and pair.worst == (12, 2) and pair.got[pair.worst] == 1


@pytest.mark.parametrize("scale", [1.0, 1e9, float("nan")])
def test_the_picture_has_no_ground_of_its_own(scale):
    got, expected = wrong_at(0, 1, 1, shape=(2, 3, 4))
    picture = Image.open(io.BytesIO(draw_failure(CheckFailed("the output", (got * scale, expected)))))
    assert picture.mode == "RGBA" and picture.getpixel((0, 0))[3] == 0
    assert max(picture.size) < 2000
