"""The bundled French-English corpus, and corpora of your own.

    generator/        draws the bundled corpus from our own grammar and lexicon
    parallel_text.py  other text to a corpus                  encodings.py  byte pairs and whole words
    __main__.py       the commands `generate` and `prepare`, with flags.toml and presets.toml

Begin with `README.md`, then `generator/sentences.py`. `reference/data.py` reads a corpus into batches.
"""
