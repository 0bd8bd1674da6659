"""The component tests, one file per task: the same for a student's own run and for grading."""
