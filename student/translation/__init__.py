"""Text in, text out: translation with a trained model.

    translate.py       tokens to translations, and their BLEU    unknown_words.py   source words in place of <unk>
    lines.py           lines of text to their translations       alignment.py       which words translate each other
    raw_text.py        raw text to tokens, and back              choosing.py        greedy or beam, cached or not
                                                                 cached/            the key/value cache

Only instructors have `cached/`, since it relies on how the layers are written.
"""
