"""A small package around one module, and what is found in it."""

import textwrap
from collections.abc import Callable

import pytest

from autograder.rules import ShortCut, find_short_cuts
from foundation.assignment_file import read_assignment

FORBIDDEN = read_assignment().contract.forbidden

OWN = {
    "attention": """
        import torch
        from torch import nn

        def scaled_dot_product_attention(query, key, value, mask=None):
            return torch.softmax(query @ key.transpose(-2, -1), -1) @ value, None

        class MultiHeadedAttention(nn.Module):
            def __init__(self, d_model, n_heads):
                super().__init__()
                self.project = nn.Linear(d_model, d_model)
        """,
    "layers": """
        import torch
        from torch import nn
        from .attention import MultiHeadedAttention

        class LayerNorm(nn.Module):
            def __init__(self, d_model):
                super(LayerNorm, self).__init__()
                self.gain = nn.Parameter(torch.ones(d_model))

        class EncoderLayer(nn.Module):
            def __init__(self, d_model):
                super().__init__()
                self.norm, self.attention = LayerNorm(d_model), MultiHeadedAttention(d_model, 2)
        """,
}
COMPONENTS = (
    "attention.scaled_dot_product_attention",
    "attention.MultiHeadedAttention",
    "layers.LayerNorm",
    "layers.EncoderLayer",
)


@pytest.fixture
def find() -> Callable[..., dict[str, list[ShortCut]]]:
    """Replaces modules of the package, given as indented text, and returns what is found by component."""

    def search(**modules: str) -> dict[str, list[ShortCut]]:
        texts = {name: textwrap.dedent(text).lstrip("\n") for name, text in {**OWN, **modules}.items()}
        return find_short_cuts({name: (f"{name}.py", text) for name, text in texts.items()}, COMPONENTS, FORBIDDEN)

    return search
