"""Questions for a student about the student's own code: for a conversation, or for a sitting in class.

    examiner.py   the kinds of questions, which of them are asked, and in which order
    values.py     which shape has this value at this line, or which numbers, in a call that one can compute by hand?
    versions.py   for which call does a change make a difference, which runs this branch, and what does one see?
    rewriting.py  which rewritten line, or which order of two lines, leaves all results equal?
    breaking.py   which change breaks this test? And a bug hunt: the student's component with one line changed
    choosing.py   which of the possible questions and options, so that nothing but the code tells the answer
    sitting.py    seats, the key, and marks from what was answered
    operators.py  the mutation operators behind them
    student_lines.py  the statements that the student has written, and one-line changes of them
    bench.py      runs the submission, and changed versions of it, in the sandbox
    question.py   questions, options, excerpts; the sheets as pages

Every answer comes from running this student's code, and so does the proof that the other options are wrong. A component
that does not pass its tests is not asked about. The same student gets the same questions all term: they follow from the
term's secret, the student and the submission's content. What is about this assignment, such as the attention weights,
is in `autograder/assignment/understanding/`.
"""
