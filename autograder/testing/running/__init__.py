"""Collects the component tests once, and runs them on one submission after the other.

    collection.py          the tests, and what each run of them ends with
    collected_tests.py     runs them on a sandboxed submission
    own_run.py             what a student's own run has earned, and what is still to be written
    fresh_workers.py       second tries, where another component may have spoilt the worker
    checking_time.py       limits the time that the tests' own code takes
    outcomes.py            what a test's exception means
    sandboxed_outcomes.py  and one from the sandbox

A student's own run and a notebook use pytest, or the collection, directly.
"""
