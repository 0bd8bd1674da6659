"""French: forms of words, then noun phrases and clauses, then elision and contraction."""
