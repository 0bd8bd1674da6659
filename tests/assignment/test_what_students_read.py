"""What a student reads of a known mistake: one block, with what leads to it."""

import pytest

from autograder.at_home.notebook import run_task
from autograder.course.catalogue import apply, faults_of
from autograder.intake.sources import in_module

READ = {
    "embedding-not-scaled": "these are rows of the table as they are; the table is set after `__init__`",
    "embedding-squeezed": "; an axis of size 1 is missing\n",
    "attention-dropout-always": "two equal calls give different results: is dropout active?",
    "attention-mask-inverted": "this is the right result of the inverted mask",
    "attention-key-reshaped": "the right result if key were reshaped, which mixes its positions",
    "attention-mask-only-four-axes": "this is the right result without mask",
    "attention-overflowing-softmax": "look at:  exp(1000) is infinite",
    "attention-results-swapped": "this is what weights should be",
    "layer-norm-fixed-epsilon": "this is the right result with epsilon = 1e-06",
    "layer-norm-gain-on-shift": "this is the right result if the gain multiplied the shift, too",
    "layer-norm-over-positions-and-features": "position 0 of x changes the result of position 1, too",
    "layer-norm-training-only": "in train mode the result is right, in eval mode it is not",
    "feed-forward-no-second-bias": "two maps, each with a bias; the shapes here are (9, 4) (9,) (4, 9)\n",
    "feed-forward-relu-first": "relu acts on x, before both maps\n",
    "multi-head-key-projected-twice": "the key that heads get is not its projection, split into heads",
    "multi-head-query-and-key-tied": "query, key, value and output each have a projection of their own",
    "multi-head-scaled-by-d-model": "the query that heads get is 0.2887 times its projection",
    "multi-head-split-without-transpose": "of query reaches position 3 of the query that a head gets",
    "decoder-layer-cross-residual-from-input": "LayerNorm 2 gets the layer's x + the output of attention 2; then ",
    "decoder-layer-dropout-on-the-sum": "nothing is left of x: ",
    "decoder-layer-memory-as-value-only": "attention 2 gets the output of LayerNorm 1 as key",
    "decoder-layer-memory-added": "LayerNorm 2 gets none of the inputs, outputs and their sums",
    "decoder-layer-no-cross-dropout": "dropout acts on 2 of 3 sublayers' outputs\n",
    "decoder-layer-one-attention-used-twice": "` serves as attention 1 and as attention 2\n",
    "decoder-layer-own-causal-mask": "attention 1 gets a causal mask as mask",
    "encoder-heads-and-inner-size-swapped": "encoder layer 1 is `layers.0`, made with n_heads = ",
    "encoder-residual-around-the-stack": "the output of encoder layer 3 is returned\n",
    "transformer-positions-without-dropout": "made with dropout = 0.1; it should be one with dropout = 0",
    "training-accumulation-by-accumulate": "weights the batches of the group equally, however many labels",
    "training-accumulation-counts-padding": "weights the batches of the group by all their labels, padding too",
    "training-clipped-by-value": "the gradient before step 1 has each number limited, not the norm of all",
    "training-first-label-left-out": "the criterion gets 4 labels, of which 2 are words; the batch has 6, of ",
    "training-gradients-cleared-once": "before step 2 contains that of batch 1, too, from an earlier step",
    "training-labels-as-input": "`decode` gets batch.labels as tgt\n",
    "training-returns-last-loss": "this is the last batch's loss",
    "training-padding-in-the-loss": "the criterion is not called",
    "training-scheduler-before-optimizer": "step 1 has the learning rate 0.25, that of step 2; it should be 0.5",
    "beam-bos-returned": "observed: bos, ",
    "beam-eos-not-counted": "its score (log p / length ** length_penalty, with eos) is -",
    "beam-encoder-mask-ignored": "`encode` gets another mask than the one for the encoder",
    "beam-source-mask-of-first-sentence": "`decode` gets a source mask that is not that of a row's sentence",
    "beam-train-mode": "the model, or a part of it, is in train mode during the search",
    "beam-unended-lost-beside-ended": " ** 0 = -0.",
}
SEVERAL = {
    "multi-head-length-of-query": ("attention.py, line ", "inputs:   query (", "sizes:    ", " gets key of shape ("),
    "training-last-group-dropped": ("only:     with an incomplete last group: ", "takes 2 steps; it should take 3"),
}


@pytest.mark.slow
def test_one_block_leads_to_the_mistake(assignment, reference, sampled):
    faults = {fault.id: fault for fault in faults_of(assignment)}
    for name in sampled((*READ, *SEVERAL), 3):
        [task] = (task for task in assignment.tasks if task.number == faults[name].task)
        _, shown = run_task(task, apply(faults[name], reference), 11, assignment, in_module)
        assert shown.count("\n[test_") == 1 and ("  observed: " in shown) + ("  look at: " in shown) <= 1, name
        assert all(part in shown for part in SEVERAL.get(name) or [READ[name]]), shown
