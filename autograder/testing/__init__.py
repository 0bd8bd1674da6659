"""Runs component tests: on one submission after the other, in a student's own run, and in a notebook."""
