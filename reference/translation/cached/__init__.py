"""Decoding with a key/value cache: each step computes one position, not the whole target again.

    checking.py      whether the cache may stand in for a model        greedy.py   greedy search
    fused_model.py   the model's weights, rearranged for decoding      beam.py     beam search, with all hypotheses
    decoder.py       one position after another, with what is known

Only instructors have this room, since it relies on how the reference's layers are written. `choosing.py` uses it where
it is there and fits, and the searches of `decode.py` elsewhere; the results are the same.
"""
