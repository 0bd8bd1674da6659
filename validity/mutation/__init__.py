"""Mutation testing: no small change of a solution may pass the tests of its task.

A mutant that passes must be listed as equivalent, with the reason.

    survivors.py     runs the tests on mutants: which of them pass? And the report of it
    mutants.py       the reference with one small change each; those that are known to be right
"""
