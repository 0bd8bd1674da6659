"""What a model does and how it learned, drawn with matplotlib.

    attention_maps.py   where each token of a sentence looks      curves.py   loss and dev BLEU of a run
    through_time.py     how that changes in training              saving.py   a figure as a file

Training works without matplotlib; only what draws imports this package.
"""
