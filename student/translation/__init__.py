"""Text in, text out: translation with a trained model.

    translate.py       sentences to translations, and their BLEU
    raw_text.py        raw text to tokens, and tokens to text that people read
    alignment.py       which words translate each other, and the error rate of such links
    cached_greedy.py   greedy search that computes each position once

Only instructors have `cached_greedy.py`, since it relies on how the layers are written.
"""
