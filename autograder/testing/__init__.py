"""Component tests: what they use, and how they run on a submission, here or in the sandbox.

    subject.py      what tests are written with: read first   case.py         random inputs
    arguments.py    copies and changes of arguments           fitting.py      values and gradients of formulas
    rows.py         tests that run for each row of a table    comparison.py   checks that say what is wrong
    observation.py  what a wrong result shows                 experiments.py  what more calls show
    contrast.py     what separates wrong calls from right ones
    under_test.py   a submission and what one may ask of it   results.py      how tests end, and points
    fixtures.py     pytest's plugin                           at_home.py      its start where students installed it
    own_run.py      what an own run has earned                collection.py   the tests, collected once
    collected_tests.py  on a sandboxed submission, within limits of time
    notebook.py     in a student's notebook                   hints.py        hints after failed attempts
    own_tests.py    a student's own tests, as text

Students get what their own run needs.
"""
