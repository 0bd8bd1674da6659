"""Lexical entries and the tables in `lexicon` that they are read from."""
