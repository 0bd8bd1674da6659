"""Shared by tests, so that students get it."""

ZERO = 0.0
