"""Runs component tests on a submission, in this process or in the sandbox.

collection.py        the tests, collected once, and a submission in this process
collected_tests.py   on a sandboxed submission, within limits of time
"""
