"""Grades in Gradescope's container and words the results as Gradescope wants them."""
