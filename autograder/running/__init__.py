"""Runs component tests on a submission, in this process or in the sandbox.

in_process.py        a submission in this process
collection.py        the tests, collected once
collected_tests.py   on a sandboxed submission, within limits of time
"""
