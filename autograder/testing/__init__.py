"""Runs component tests: collected once for many submissions, in a student's own run, and beside a notebook."""
