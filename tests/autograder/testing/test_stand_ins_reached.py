"""A faulty component costs no other one points, however the others reach it: a stand-in is met where it is called."""

import pytest
import torch

from autograder.testing.in_process import InProcessSubmission
from foundation.assignment_file import read_assignment

BROKEN = "\n\ndef _break(*arguments):\n    raise KeyError('its own part was used')\n\nLayerNorm.forward = _break\n"
WAYS = {
    "name": ("", "LayerNorm(d_model)"),
    "dictionary": ("NORMS = {'layer': LayerNorm}\n", "NORMS['layer'](d_model)"),
    "partial": ("import functools\nmake = functools.partial(LayerNorm, epsilon=1e-5)\n", "make(d_model)"),
    "default": ("def make(d, kind=LayerNorm):\n    return kind(d)\n", "make(d_model)"),
    "keyword-only default": ("def make(d, *, kind=LayerNorm):\n    return kind(d)\n", "make(d_model)"),
    "closure": ("def maker(kind):\n    return lambda d: kind(d)\nmake = maker(LayerNorm)\n", "make(d_model)"),
    "attribute": ("class Parts:\n    norm = LayerNorm\n", "Parts.norm(d_model)"),
    "configuration": ("import types\nCONFIG = types.SimpleNamespace(norm=LayerNorm)\n", "CONFIG.norm(d_model)"),
}


@pytest.mark.parametrize("before, build", WAYS.values(), ids=WAYS)
def test_a_component_is_met_by_its_stand_in(reference, before, build):
    path, text = reference["layers"]
    assert text.count("class EncoderLayer") == 1 and "LayerNorm(d_model)" in text
    start, end = text.split("class EncoderLayer")
    text = f"{start}{before}\n\nclass EncoderLayer{end.replace('LayerNorm(d_model)', build)}{BROKEN}"
    submission = InProcessSubmission({**reference, "layers": (path, text)}, read_assignment())
    try:
        layer = submission.build("layers.EncoderLayer", 8, 2, 12)
        assert layer(torch.randn(2, 3, 8), None)[0].shape == (2, 3, 8)
        with pytest.raises(KeyError, match="its own part"):
            submission.build("layers.LayerNorm", 8)(torch.randn(2, 8))
        with pytest.raises(KeyError, match="its own part"):
            submission.build("layers.EncoderLayer", 8, 2, 12, isolated=False)(torch.randn(2, 3, 8), None)
    finally:
        submission.close()


def test_a_function_in_a_dictionary_is_met_too(reference):
    path, text = reference["attention"]
    use = "scaled_dot_product_attention("
    start, end = text.split("class MultiHeadedAttention")
    text = f"{start}KINDS = {{'dot': scaled_dot_product_attention}}\n\n\nclass MultiHeadedAttention"
    text += end.replace(f" {use}", " KINDS['dot'](")
    assert "KINDS['dot'](" in text
    text = text.replace("    weights = ", "    raise KeyError('its own part was used')\n    weights = ", 1)
    submission = InProcessSubmission({**reference, "attention": (path, text)}, read_assignment())
    x = torch.randn(2, 3, 8)
    try:
        assert submission.build("attention.MultiHeadedAttention", 8, 2)(x, x, x)[0].shape == (2, 3, 8)
        with pytest.raises(KeyError, match="its own part"):
            submission.call("attention.scaled_dot_product_attention", x, x, x)
    finally:
        submission.close()
