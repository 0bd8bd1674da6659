"""Proof of the tests: faults that they must find, correct code that they must accept.

    variants/         correct code that looks different
    equivalents.toml  mutants that are not faults

Students never see any of it.
"""
