"""Are the marks right? Proves the component tests, the diagnosis and the thresholds.

What belongs to the assignment (faults, variants, equivalent mutants) is data in `assignment`.

    __main__.py    the command line: prove, mutate, same, outside, hints, calibrate
    console.py     command lines (flags.toml has their flags), tables, and commands in processes of their own
    run_tests.py   runs the component tests on many versions of a submission, all of them trusted code
    variants.py    correct implementations that look different; which faults and variants are tried
    prove.py       every known fault costs its own task points, every correct variant passes
    mutate.py      small changes of solutions that nobody thought of fail a test
    same.py        each test ends alike at home and when graded
    hints.py       by which patterns students get hints, and how often they are right
    outside.py     public implementations get what independent verdicts say: outside_verdicts.py makes them
                   by outside_formulas.py
    calibration.py where to put the BLEU thresholds
"""
