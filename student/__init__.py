"""A Transformer for machine translation, written by hand (Vaswani et al. 2017).

From the bottom up, what students write:

    embedding.py   tokens and positions as vectors      model.py    encoder, decoder, Transformer
    attention.py   attention, single- and multi-head    train.py    one pass over the training data
    layers.py      LayerNorm, feed-forward, layers      decode.py   greedy and beam search
    masks.py       who may attend to whom               own_tests.py  tests of attention and LayerNorm
    understanding.py  answers about your own code       hunts.py    mistakes in code that shows itself only in use

What is given:

    vocab.py       tokens and ids                       data.py     from a corpus to batches
    __main__.py    starts the command line of the package `given`: training runs, translation, pictures

Shapes: b batch, h heads, q/k query and key positions, s source length, t target length, d = d_model.
Modules import each other relatively, so that the package works under any name.
"""
