"""A look at the whole model, without stand-ins: parts that pass their tests may still fail in a training.

What differs in training, begins with zeros everywhere, hides its parameters from the optimizer, or trains nothing but
the model of a test costs no points, since no test of a part shows it. A reader gets to know.
"""

from math import isfinite

import torch

from autograder.testing.case import Case, SubmissionUnderTest, earlier_keys

N_TOKENS, D_MODEL, N_HEADS, D_FF, N_LAYERS = 300, 32, 4, 64, 1
N_SENTENCES, LENGTH = 14, 9
N_RUNS = 4
"""Calls, each of some steps: one would take longer than a call may, on a busy machine."""
LEARNED = 0.03
"""Of the first loss may be left; correct models have a hundredth left, of whatever small first values."""
NEAR = 1e-3
"""Log-probabilities may differ so much between modes without dropout."""


def look_at_whole(submission: SubmissionUnderTest) -> str:
    """Return what is odd about a model that is made, called and trained as usual; "" = nothing."""
    sizes = N_TOKENS, N_TOKENS, D_MODEL, N_HEADS, D_FF, N_LAYERS
    model = submission.build("model.Transformer", *sizes, dropout=0.0, isolated=False)
    submission.apply("keep", model)
    case = Case(0, "the whole model")
    src, tgt, labels = (case.tokens(N_TOKENS, N_SENTENCES, LENGTH, low=1) for _ in range(3))
    masks = torch.ones(N_SENTENCES, 1, 1, LENGTH, dtype=torch.bool), earlier_keys(LENGTH).repeat(N_SENTENCES, 1, 1, 1)
    batch = [src, tgt, *masks], labels
    try:
        runs = [submission.apply("rehearse", "train.train_epoch", *batch, isolated=False) for _ in range(N_RUNS)]
    except NotImplementedError:  # an adapter may leave out `forward`, which the kit gives to students
        return ""
    (first, _, apart), (_, last, _) = runs[0], runs[-1]
    if not last < LEARNED * first:
        return f"the whole model does not learn one batch by heart: loss {first:.2f} at first, {last:.2f} in the end"
    if isfinite(apart) and apart > NEAR:
        return f"the whole model predicts something else in training than in eval mode, by up to {apart:.2g}"
    return ""
