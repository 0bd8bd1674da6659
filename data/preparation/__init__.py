"""Corpora from parallel text of other origin.

    parallel.py         reading text: files, columns, datasets   prepared_folder.py  replacing an older corpus safely
    prepare.py          cutting, dropping, splitting, encoding   commands.py         `prepare` and `encode`
    encodings.py        byte pairs or whole words, as JSON

Nothing here knows the embedded corpus.
"""
