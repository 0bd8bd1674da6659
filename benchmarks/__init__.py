"""Measures the figures that README and documentation quote; `__main__.py` is the command line.

trained.py   the tables of the course's report again (models.toml); models that are trained with a mistake
rubric.py    points that faults cost, beside their harm, and beside the marks of two readers
accessibility.py  pages that not everybody can read
"""
