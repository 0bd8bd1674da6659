"""Shows records to people and other programs: terminal, class summary, Gradescope, nbgrader's gradebook."""
