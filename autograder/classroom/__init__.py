"""Grades a folder of submissions."""
