"""Drawing meanings at random: nominals, clauses, sentences. Nothing here writes a word of a language."""
