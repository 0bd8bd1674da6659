"""The embedded French-English corpus: generator, lexicon and grammar.

Run as ``python -m data generate`` and ``python -m data check``. What is here makes the corpus; reading it
into batches is the business of the reference implementation. Start with ``README.md``, then
``draw/sentences.py``.
"""
