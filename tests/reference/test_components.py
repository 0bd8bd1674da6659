"""The reference against PyTorch's own layers, with shared weights, in float64."""

import pytest
import torch
from torch import nn

from reference.attention import MultiHeadedAttention
from reference.layers import DecoderLayer, EncoderLayer, FeedForward, LayerNorm
from reference.masks import causal_mask, padding_mask
from reference.model import Encoder


@pytest.fixture(autouse=True)
def in_float64():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def close(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-9)


def copy_attention(ours: MultiHeadedAttention, theirs: nn.MultiheadAttention) -> None:
    parts = (ours.project_query, ours.project_key, ours.project_value)
    theirs.in_proj_weight.data = torch.cat([part.weight.data for part in parts])
    theirs.in_proj_bias.data = torch.cat([part.bias.data for part in parts])
    theirs.out_proj.load_state_dict(ours.project_output.state_dict())


def copy_norm(ours: LayerNorm, theirs: nn.LayerNorm) -> None:
    nn.init.normal_(ours.gamma), nn.init.normal_(ours.beta)
    theirs.weight.data, theirs.bias.data, theirs.eps = ours.gamma.data, ours.beta.data, ours.epsilon


def copy_feed_forward(ours: FeedForward, theirs: nn.Module) -> None:
    theirs.linear1.load_state_dict(ours.expand.state_dict())
    theirs.linear2.load_state_dict(ours.contract.state_dict())


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 5, 3), (4, 2, 7)])
def test_multi_headed_attention(shape):
    batch, queries, keys = shape
    ours, theirs = MultiHeadedAttention(12, 3), nn.MultiheadAttention(12, 3, batch_first=True)
    copy_attention(ours, theirs)
    query, memory = torch.randn(batch, queries, 12), torch.randn(batch, keys, 12)
    mask = torch.rand(queries, keys) < 0.7
    mask[:, 0] = True
    output, weights = ours(query, memory, memory, mask)
    expected = theirs(query, memory, memory, attn_mask=~mask, average_attn_weights=False)
    close(output, expected[0])
    close(weights, expected[1])


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layer(norm_first):
    ours = EncoderLayer(12, 3, 20, 0.4, norm_first).eval()
    theirs = nn.TransformerEncoderLayer(12, 3, 20, 0.4, batch_first=True, norm_first=norm_first).eval()
    copy_attention(ours.attention, theirs.self_attn)
    copy_feed_forward(ours.feed_forward, theirs)
    copy_norm(ours.attention_norm, theirs.norm1)
    copy_norm(ours.feed_forward_norm, theirs.norm2)
    x, mask = torch.randn(3, 5, 12), causal_mask(5)
    close(ours(x, mask)[0], theirs(x, src_mask=~mask))


@pytest.mark.parametrize("norm_first", [False, True])
def test_decoder_layer(norm_first):
    ours = DecoderLayer(12, 3, 20, 0.4, norm_first).eval()
    theirs = nn.TransformerDecoderLayer(12, 3, 20, 0.4, batch_first=True, norm_first=norm_first).eval()
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    copy_feed_forward(ours.feed_forward, theirs)
    for mine, other in zip(
        (ours.self_attention_norm, ours.cross_attention_norm, ours.feed_forward_norm),
        (theirs.norm1, theirs.norm2, theirs.norm3),
        strict=True,
    ):
        copy_norm(mine, other)
    x, memory = torch.randn(3, 4, 12), torch.randn(3, 6, 12)
    src = torch.tensor([[5, 5, 5, 5, 5, 5], [5, 5, 0, 0, 0, 0], [5, 5, 5, 0, 0, 0]])
    expected = theirs(x, memory, tgt_mask=~causal_mask(4), memory_key_padding_mask=src == 0)
    close(ours(x, memory, padding_mask(src, 0), causal_mask(4))[0], expected)


def test_pre_norm_stack_ends_with_a_norm():
    encoder = Encoder(12, 3, 20, 2, norm_first=True).eval()
    copy_norm(encoder.last_norm, other := nn.LayerNorm(12))
    x = torch.randn(2, 4, 12)
    state = x
    for layer in encoder.layers:
        state, _ = layer(state, None)
    close(encoder(x, None)[0], other(state))
