"""Small changes to the solutions: no mutant may pass the tests of its task."""
