"""Corpora from parallel text of other origin.

    parallel.py          reading text: files, columns        encodings.py         byte pairs or whole words, as JSON
    library_datasets.py  reading datasets                    drawing.py           dev and test out of training text
    choices.py           all choices, and presets            prepare.py           from text to the corpus' files
    presets.toml         those of known corpora              prepared_folder.py   replacing an older corpus safely
    sentences.py         cutting, dropping, keeping on disk  commands.py          `prepare` and `encode`

Nothing here knows the embedded corpus.
"""
