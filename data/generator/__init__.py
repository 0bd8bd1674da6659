"""The generator of the bundled corpus: lexicon, meaning, two languages, splits, encoding.

sentences.py           drawing meanings; begin there         predicates.py  *être* and its like
clauses.py             verbs and their complements           adjuncts.py    tenses, times, places, company
nouns.py               nominals, adjectives, determiners     chance.py      the random stream
meaning.py             nodes of a sentence's meaning         writing.py     writing them: french.py, english.py
lexicon/, entries.py   the words: tables and reading them    build.py       splits, contents of the files
"""
