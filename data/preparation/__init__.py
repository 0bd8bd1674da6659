"""Corpora from parallel text of other origin.

    reading.py     text: files, columns, datasets          encodings.py   byte pairs or whole words, as JSON
    choices.py     all choices, and presets                corpus.py      cleaning, splitting, encoding, writing
    presets.toml   those of known corpora                  commands.py    the command line

Nothing here knows the bundled corpus.
"""
