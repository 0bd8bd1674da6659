"""The bundled French-English corpus, and corpora of your own.

    generator/     draws the bundled corpus from our own grammar and lexicon: `generate`, `check`
    preparation/   turns other parallel text into a corpus: `prepare`
    bpe.py         byte-pair encoding        files.py   what all corpora share        __main__.py   the command line

Begin with `README.md`, then `generator/draw/__init__.py`. `reference/data.py` reads a corpus into batches.
"""
