"""The example: a small regression by hand. `docs/another-assignment.md` is written along it."""
