"""Finds out which parameter plays which part, whatever a submission calls it and however it is laid out."""
