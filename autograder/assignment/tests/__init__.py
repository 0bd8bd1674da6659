"""The component tests: one file a task, the same for a student's own run and for grading."""
