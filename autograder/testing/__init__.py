"""The tools of component tests.

    subject.py      read this first                       case.py         what tests are handed; rows of tables
    arguments.py    copies and changes of arguments       fitting.py      values and gradients of formulas
    comparison.py   checks that name what is wrong; tolerances
    observation.py  what a wrong result shows             experiments.py  what more calls show
    contrast.py     what separates wrong calls from right ones
    side_effects.py what calls leave behind               idle.py         components that compute nothing
    results.py      how tests end, and points

`each_dtype` runs a test in float64 and in float32; `each_row` runs it once for each row of a table, in float64 but for
those that it names. `case` draws random inputs: `normal` numbers, and a `mask` in which True means may attend; each of
its rows allows a key. Of pytest's fixtures a test takes `submission` and `case` alone.

Each test belongs to one item of the rubric, which its mark names: `item("gradients")`. One mistake should cost one
item, so a test that is not about values compares the component with itself where its values are wrong anyway.

Parameters are random, and a submission may name and lay them out as it likes. There may be several formulas, one for
each way to read the parameters, and one of them has to fit.

How they run: `autograder.running`; in a student's folder: `autograder.at_home`.
"""
