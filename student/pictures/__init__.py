"""What a model does and how it learned, drawn with matplotlib.

    attention_maps.py   where each token of a sentence looks      saving.py   a figure as a file
    curves.py           loss and dev BLEU of a run

Training works without matplotlib; only what draws imports this package.
"""
