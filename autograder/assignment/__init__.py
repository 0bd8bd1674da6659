"""This assignment: all that another one would replace. The rest of `autograder` could judge any assignment.

    assignment.toml   tasks, points, thresholds, limits
    tests/            the component tests, one file a task    readings/       finds out which parameter plays which part
    misconceptions/   known faults, as patches                layouts/        other layouts of the same computation
    variants/         correct code that looks different       equivalents.toml  mutants that are no faults
    training_check.py does the whole learn?
"""
