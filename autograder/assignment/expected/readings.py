"""What a component may compute with its parameters: a computation for each reading of them.

The contract leaves free how a submission names its parameters and lays them out. Tests write random values into all of
them, so that only the right reading gives what the component returns. Each function takes the tensors to compute with,
in the order of the module's learned parameters; and `twin`, which makes another module of the same sizes in float64,
where an unusual layout has to be read from what the component does.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from autograder.testing.calls import Computation, leaves_of
from autograder.testing.case import Case

from .by_behaviour import find_gain_and_shift, find_network, find_table, in_a_row
from .parts import formula_readings, learned
from .unreadable import check_embedding, check_network

Twin = Callable[[], nn.Module]


def embeddings(leaves: Sequence[Tensor], vocab_size: int, d_model: int, case: Case, twin: Twin) -> list[Computation]:
    """Looks vectors up in a table (vocab_size, d_model), transposed or not, and multiplies them by sqrt(d_model)."""
    matrices = [leaf for leaf in leaves if leaf.dim() == 2]  # one with more rows than tokens fails a test of its own
    tables = [leaf for leaf in matrices if leaf.size(0) >= vocab_size and leaf.size(1) == d_model]
    tables += [leaf.T for leaf in matrices if leaf.size(1) >= vocab_size and leaf.size(0) == d_model]
    if not tables and sum(leaf.numel() for leaf in leaves) == vocab_size * d_model:
        places = find_table(twin(), vocab_size, d_model)
        if places is None:
            check_embedding(twin(), case, vocab_size)
        tables = [in_a_row(leaves)[places]]
    return [lambda tokens, table=table: F.embedding(tokens, table) * math.sqrt(d_model) for table in tables]


def layer_norms(leaves: Sequence[Tensor], d_model: int, epsilon: float, twin: Twin) -> list[Computation]:
    """PyTorch's own layer norm; the gain may be kept as its difference from 1, and both may be one parameter."""
    pairs = [pair for found in _vectors(leaves, d_model) for pair in _ordered(found, d_model)]
    if not pairs and (places := find_gain_and_shift(twin(), d_model, epsilon)) is not None:
        pairs = [(in_a_row(leaves)[places[0]], in_a_row(leaves)[places[1]])]
    readings = [(gain, shift) for gain, shift in pairs] + [(1 + gain, shift) for gain, shift in pairs]
    return [
        lambda x, gain=gain, shift=shift: F.layer_norm(x, (d_model,), gain, shift, epsilon) for gain, shift in readings
    ]


def _vectors(leaves: Sequence[Tensor], d_model: int) -> Iterator[list[Tensor]]:
    """Ways to read parameters as vectors: each is one, or a single one holds both as its rows or columns."""
    if len(leaves) == 1 and leaves[0].numel() == 2 * d_model:
        both = leaves[0].squeeze()
        ways = (both, both.mT) if both.dim() == 2 else (both.reshape(2, d_model), both.reshape(d_model, 2).mT)
        yield from ([row.flatten() for row in matrix] for matrix in ways if matrix.size(0) == 2)
    else:
        yield [leaf.flatten() for leaf in leaves]


def _ordered(found: list[Tensor], d_model: int) -> list[tuple[Tensor, Tensor]]:
    """Two vectors as gain and shift, in both orders; nothing unless they fit d_model."""
    if [vector.numel() for vector in found] != [d_model, d_model]:
        return []
    return [(found[0], found[1]), (found[1], found[0])]


def feed_forwards(leaves: Sequence[Tensor], d_model: int, d_ff: int, case: Case, twin: Twin) -> list[Computation]:
    """W_2 relu(W_1 x + b_1) + b_2, for each way to lay out two matrices and two biases."""
    found: list[Computation] = list(formula_readings(leaves, d_model, d_ff))
    is_complete = sum(leaf.numel() for leaf in leaves) == 2 * d_model * d_ff + d_model + d_ff
    if not found and is_complete:
        places = find_network(twin(), d_model, d_ff)
        if places is None:
            check_network(twin(), case, d_model)
        found = [places.of(leaves)]
    return found


def learned_and_leaves(module: nn.Module) -> tuple[list[nn.Parameter], list[Tensor]]:
    """The parameters that training changes, and copies of them in float64 to compute with."""
    parameters = learned(module)
    return parameters, leaves_of(parameters)
