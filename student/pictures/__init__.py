"""What a model does and how it learned, drawn with matplotlib.

    attention_maps.py   where each token of a sentence looks      capturing.py   what attention computes inside
    through_time.py     how that changes in training              curves.py      loss and dev BLEU of a run
    alignments.py       the same beside gold alignments           saving.py      a figure as a file
    matrices.py         Q, K, V, scores, weights, context

Training works without matplotlib; only what draws imports this package.
"""
