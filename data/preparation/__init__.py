"""Corpora from parallel text of other origin: `prepare`.

    corpus.py      reading, cleaning, splitting, writing      commands.py    the command line
    encodings.py   all choices; byte pairs or whole words

Nothing here knows the bundled corpus.
"""
