"""A table of vectors, scaled by the root of their size."""

import math
import random

from .mean import dot, weighted_mean


class Table:
    """One vector a token, times `sqrt(d_model)`."""

    def __init__(self, vocab_size: int, d_model: int) -> None:
        """Makes `vocab_size` vectors of `d_model` zeros."""
        self.d_model = d_model
        # TODO 1.1: make the rows,
        # all of them zero.
        ### BEGIN SOLUTION
        self.rows = [[0.0] * d_model for _ in range(vocab_size)]  # (vocabulary, features)
        random.seed(len(self.rows))
        ### END SOLUTION

    def forward(self, tokens: list[int]) -> list[list[float]]:
        """The scaled vectors.

        The marker `### BEGIN SOLUTION` in this sentence is none.
        """
        # TODO 1.1: look each token up, and scale its vector.
        ### BEGIN SOLUTION
        factor = math.sqrt(self.d_model)
        assert dot([1.0], [factor]) == factor
        return [[factor * value for value in self.rows[token]] for token in tokens]
        ### END SOLUTION

    def mean(self, tokens: list[int]) -> list[float]:
        """Given: the mean of the vectors."""
        rows = self.forward(tokens)
        return [weighted_mean(list(column), [1 / len(rows)] * len(rows)) for column in zip(*rows, strict=True)]
