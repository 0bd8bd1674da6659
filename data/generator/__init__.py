"""The generator of the bundled corpus.

    lexicon/       the words, as tables              entries.py, tables.py, words.py   reading and checking them
    meaning.py     what a sentence means             draw/           drawing meanings at random
    french/        writing a meaning in French       english/        writing it in English
    settings.py    how often each thing is drawn     alignment.py    words, gold word alignments
    build.py       splits and their encodings        corpus_files.py file names, bytes, manifest
    commands.py    `generate` and `check`

The flow is: lexicon, meaning, two languages, alignment, splits, encoding, files.
"""
