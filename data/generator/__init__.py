"""The generator of the bundled corpus.

    lexicon/      the words, as tables             entries.py, tables.py   reading and checking them
    meaning.py    nodes of a sentence's meaning    draw/                   drawing meanings at random
    languages/    writing them out                 build.py                alignments, splits, contents

The flow is: lexicon, meaning, two languages, alignment, splits, encoding, files.
"""
