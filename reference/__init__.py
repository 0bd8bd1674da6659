"""A Transformer for machine translation, written by hand (Vaswani et al. 2017).

The parts, from the bottom up:

    vocab.py       tokens and ids                    embedding.py   tokens and positions as vectors
    data.py        corpus to batches                 attention.py   attention, one head and many
    masks.py       who may attend to whom            layers.py      LayerNorm, feed-forward, the two layers
    train.py       one pass over the data            model.py       encoder, decoder, Transformer
    schedule.py    the learning rate                 decode.py      greedy and beam search
    config.py      all settings and presets          translate.py   text in, text out, BLEU
    experiment.py  a whole training run              pictures.py    attention maps and curves
    checkpoint.py  saving and going on               compare.py     a table of runs
    files.py       written whole or not at all       __main__.py    the command line

Shapes: b batch, h heads, q/k query and key positions, s source length, t target length, d = d_model.
Modules import each other relatively, so the package works under any name.
"""
