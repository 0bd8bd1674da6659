"""Tokens and positions as vectors: the bottom of the encoder and of the decoder.

Shapes: b batch · s positions · d = d_model.
A component leaves its arguments, its mode and the settings of the program as they are, and keeps nothing from one call
to the next.
Paper: Vaswani et al. 2017, "Attention Is All You Need", sections 3.4 (embedding), 3.5 (positions) and 5.4 (dropout).
"""

import math

import torch
from torch import Tensor, nn


class InputEmbedding(nn.Module):
    """One learned vector per token, scaled up (section 3.4).

    embedding(token) = E[token] * sqrt(d_model)

    The learned vectors have a small variance; the factor brings them to the scale of the positional
    encoding that is added next.
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        """Creates the table: `vocab_size` vectors of `d_model` features."""
        super().__init__()
        self.d_model = d_model
        # TODO 1.1: create the learned table with one vector of d_model features for each of the
        # vocab_size tokens.
        raise NotImplementedError("TODO 1.1")

    def forward(self, tokens: Tensor) -> Tensor:
        """Looks the tokens up and scales their vectors.

        Args:
            tokens: ids, int64, (b, s).

        Returns:
            Vectors, (b, s, d).
        """
        # TODO 1.1: look the tokens up in the table and scale their vectors as section 3.4 says.
        raise NotImplementedError("TODO 1.1")


class PositionalEncoding(nn.Module):
    """Adds to each vector a code for its position, which nothing else tells the model (section 3.5).

    PE[p, 2i]     = sin(p / 10000^(2i / d))
    PE[p, 2i + 1] = cos(p / 10000^(2i / d))
    """

    code: Tensor  # (max_length, d)

    def __init__(self, d_model: int, dropout: float = 0.1, max_length: int = 512) -> None:
        """Computes the codes of `max_length` positions once; `dropout` acts on the sum."""
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(max_length, dtype=torch.float64).unsqueeze(1)  # (max_length, 1)
        frequency = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10000.0) / d_model))
        angle = position * frequency  # (max_length, ceil(d / 2))
        code = torch.zeros(max_length, d_model, dtype=torch.float64)
        code[:, 0::2] = torch.sin(angle)
        code[:, 1::2] = torch.cos(angle[:, : d_model // 2])  # an odd d has one cosine less
        # A buffer follows the model to its device and dtype, but is not trained. It need not be saved either.
        self.register_buffer("code", code.to(torch.get_default_dtype()), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Adds the codes of the first s positions to x (b, s, d), then applies dropout.

        Raises:
            ValueError: if x is longer than `max_length`.
        """
        length, max_length = x.size(1), self.code.size(0)
        if length > max_length:
            raise ValueError(f"a sequence of {length} positions, but max_length is {max_length}")
        return self.dropout(x + self.code[:length])
