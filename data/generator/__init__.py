"""The generator of the bundled corpus.

    lexicon/       the words, as tables              words/          reading and checking the tables
    meaning/       what a sentence means             draw/           drawing meanings at random
    french/        writing a meaning in French       english/        writing it in English
    settings.py    how often each thing is drawn     alignment.py    gold word alignments
    build.py       splits and their encodings        corpus_files.py file names, bytes, manifest
    check.py       does a corpus keep its promises?  commands.py     `generate` and `check`

The flow is: lexicon, meaning, two languages, alignment, splits, encoding, files.
"""
