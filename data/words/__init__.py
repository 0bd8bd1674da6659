"""Lexical entries and the tables in ``data/lexicon`` that they are read from."""
