"""The generator of the bundled corpus: lexicon, meaning, two languages, splits, encoding.

lexicon/, entries.py   the words: tables and reading them    sentences.py   drawing meanings; begin there
meaning.py             nodes of a sentence's meaning         writing.py     writing them out: french.py, english.py
chance.py              the random stream                     build.py       splits, contents of the files
"""
