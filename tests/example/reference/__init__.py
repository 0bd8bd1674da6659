"""A small regression."""
