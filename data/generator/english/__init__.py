"""English: forms of words, then noun phrases and clauses."""
