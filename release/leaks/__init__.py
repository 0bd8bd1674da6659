"""Looks for pieces of the solutions in everything that leaves the house."""
