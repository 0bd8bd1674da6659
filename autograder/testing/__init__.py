"""What component tests are written with.

    subject.py      read this first                       case.py         random inputs
    arguments.py    copies and changes of arguments       fitting.py      values and gradients of formulas
    rows.py         tests that run for each row           comparison.py   checks that say what is wrong
    observation.py  what a wrong result shows             experiments.py  what more calls show
    contrast.py     what separates wrong calls from right ones
    results.py      how tests end, and points

How they run: `autograder.running`; in a student's folder: `autograder.at_home`.
"""
