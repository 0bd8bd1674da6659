"""Grades one submission: runs its tests, turns them into points, and keeps all that is known in a record."""
