"""Questions for a student about the student's own code: for a conversation, or for a sitting in class.

    examiner.py   the kinds of questions, which of them are asked, and in which order
    behaviour.py  asks what the code does: shapes, numbers, calls, branches, symptoms
    changes.py    asks which change breaks a test, or leaves all equal; and a bug hunt: one line is changed
    question.py   questions and options, chosen so that nothing but the code tells the answer
    sheets.py     pages to print; seats, the key, and marks from what was answered
    bench.py      runs the submission, and changed versions of it, in the sandbox
    student_lines.py  the statements that the student has written, and one-line changes of them
    operators.py  the mutation operators behind them

Every answer comes from running this student's code, and so does the proof that the other options are wrong. A component
that does not pass its tests is not asked about. The same student gets the same questions all term: they follow from the
term's secret, the student and the submission's content. What is about this assignment, such as the attention weights,
is in `autograder/assignment/understanding/`.
"""
