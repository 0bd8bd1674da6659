"""Training and decoding beyond the assignment; only instructors have this folder.

raw_text.py          raw text to tokens, and back
reference_layers.py  decoding with a key/value cache, more dropout: relies on how the reference writes its layers
"""
