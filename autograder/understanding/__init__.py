"""Sheets for an oral check: five questions to a student about the student's own code.

    drawing.py   which questions, in which order
    shapes.py    which shape has this value at this line?
    breaking.py  which of three changes breaks this test?
    symptoms.py  a misconception of the catalogue in your code: what do you see?
    operators.py the mutation operators behind them
    own_code.py  the statements that the student has written, and one-line changes of them
    bench.py     runs the submission, and changed versions of it, in the sandbox
    question.py  questions, options, excerpts; the sheets as pages

Every answer comes from running this student's code, and so does the proof that the other options are wrong. A component
that does not pass its tests is not asked about. The same student gets the same questions all term: they follow from the
term's secret, the student and the submission's content. What is about this assignment, such as the attention weights,
is in `autograder/assignment/understanding/`.
"""
