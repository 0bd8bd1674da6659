"""Are the marks right? Proves the component tests, the diagnosis and the thresholds.

What belongs to the assignment (faults, variants, equivalent mutants) is data in `assignment`.

    __main__.py    the command line: prove, inside, mutate, same, outside, questions, hints, calibrate
    prove.py       every known fault costs its own task points, every correct variant passes; report.py shows it
    inside.py      what faults cost in parts that a component writes out itself
    variants.py    correct implementations that look different
    mutants.py     small changes that nobody thought of cost points too
    outside.py     public implementations get what independent verdicts say; outside_sources.py fetches and adapts them,
                   outside_verdicts.py judges them by outside_formulas.py
    questions.py   a question about a student's code has one right choice, which its text does not tell
    hints.py       by which patterns students get hints, and how often they are right
    calibration.py where to put the BLEU thresholds
    processes.py   runs commands
    same.py        each test ends alike at home and when graded
    run_tests.py   runs the component tests on many versions of a submission, all of them trusted code
"""
