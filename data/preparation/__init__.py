"""Corpora from parallel text of other origin: `prepare`.

    reading.py    text: files, columns, datasets       encodings.py   all choices; byte pairs or whole words
    corpus.py     cleaning, splitting, writing         commands.py    the command line

Nothing here knows the bundled corpus.
"""
