"""This assignment: all that another one would replace. The engine could judge any other.

    assignment.toml      tasks, points, thresholds, limits, the contract
    handout.md           what students read first
    tests/               the component tests, one file per task, or one for similar tasks
    stand_ins/           what runs in the worker beside submitted code
    expected/            what correct code computes, whatever the layout of its parameters
    misconceptions/      known faults, as patches of the reference
    own_work/            questions and bug hunts about students' own code
    proof/               what proves the tests: correct code that looks different, mutants that are no faults

The engine reads data from here and reaches code only through `autograder.course.assignment_code`. How to write another
assignment: `docs/how-to/another-assignment.md`. What a component, fault, mutant and variant are:
`docs/reference/style.md`.
"""
