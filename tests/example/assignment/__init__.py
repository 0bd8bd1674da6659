"""The example: a small regression by hand. `docs/how-to/another-assignment.md` is written along it."""
