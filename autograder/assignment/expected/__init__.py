"""Finds out which parameter plays which part, whatever a submission calls it and however it is laid out.

    parts.py          stand-ins by their shapes, and parts of a submission's own
    splitting.py      ways to split parameters into the matrices of multi-headed attention
    projections.py    which of these ways explains what attention returns
    by_behaviour.py   layouts that no list knows, from what a component computes
    laws.py           what holds for any parameters

Tests write random values into all parameters, so that no two readings of them compute the same.
"""
