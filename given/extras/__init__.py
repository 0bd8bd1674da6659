"""What training and decoding can do beyond the assignment; only instructors have this folder.

    layers.py         the layers, faster or with more dropout    arrow_corpus.py     millions of pairs, on the disk
    cached_model.py   decoding with a key/value cache            weight_average.py   averaged weights
    raw_text.py       raw text to tokens, and back

The first two rely on how the reference's layers are written; students' layers may look different.
"""
