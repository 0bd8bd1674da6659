"""Starts the processes that host submitted code, in every layer of containment that the machine offers."""
