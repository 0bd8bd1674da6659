"""A package of two modules: a table of vectors, and a weighted mean."""

from . import mean, table

__all__ = ["mean", "table"]
