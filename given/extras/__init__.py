"""What training and decoding can do beyond the assignment; only instructors have this folder.

    layers.py          the layers, faster or with more dropout    raw_text.py         raw text to tokens, and back
    cached_model.py    decoding with a key/value cache            arrow_corpus.py     millions of pairs, on the disk
    cached_search.py   greedy and beam search with it             weight_average.py   averaged weights

The first three rely on how the reference's layers are written; students' layers may look different.
"""
