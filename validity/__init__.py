"""Are the marks right? Proves the component tests, the diagnosis and the thresholds.

What belongs to the assignment (faults, variants, equivalent mutants) is data in `autograder/assignment`.

    __main__.py    the command line: prove, mutate, prove-diagnosis, calibrate
    commands.py    the options of the first three
    run_tests.py   runs the component tests on many versions of a submission
    markdown.py    tables for the pages in docs/proof
    diagnosis.py   misconceptions are recognised in other layouts
    calibration.py where to put the BLEU thresholds
    proof/         every known fault costs its own task points, every correct variant passes
    mutation/      small changes that nobody thought of cost points too
"""
