"""Training and decoding beyond the assignment; only instructors have this folder.

    layers.py         the layers, faster or with more dropout    large_corpus.py     millions of pairs, on the disk
    cached_model.py   decoding with a key/value cache            raw_text.py         raw text to tokens, and back

`layers.py` and `cached_model.py` rely on how the reference writes its layers; students' may look different.
"""
