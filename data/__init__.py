"""The bundled French-English corpus, and corpora of your own.

    generator/   draws the bundled corpus from our own grammar and lexicon     prepare.py         the command `prepare`
    files.py     names, manifest                                               parallel_text.py   other text to a corpus
    encodings.py byte pairs and whole words                                    __main__.py        `generate`

Begin with `README.md`, then `generator/sentences.py`. `reference/data.py` reads a corpus into batches.
"""
