"""Runs component tests on a submission, in this process or in the sandbox.

under_test.py        a submission in this process, and keys of pytest's stash
collection.py        the tests, collected once
collected_tests.py   on a sandboxed submission, within limits of time
"""
