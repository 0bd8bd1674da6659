"""A pre-norm Transformer as a package."""
