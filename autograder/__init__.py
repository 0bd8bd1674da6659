"""Grading of submissions: the assignment, its tests, where submitted code runs, scores and reports."""
