"""Own tests, questions and bug hunts about students' own code: at home, in a conversation, or in a sitting in class.

    questions.py  kinds of questions: shapes, numbers, calls that a changed line affects; those at home
    sheets.py     questions that staff ask: drawn, printed; the key of a sitting, and how many answers are right
    hunts.py      one line of a component is changed; hunts on paper
    boxes.py      hunts at home; a model that was trained with a mistake
    versions.py   a component with a line changed, and its results
    student_lines.py  a student's code as text, and one-line changes; operators.py has the mutations behind them
    own_tests.py  the faults that students' own tests find, and the implementations that these are tried on
    graded.py     judges own tests and hunts that were handed in; versions in the sandbox

Every answer comes from running this student's code, and so does the proof that the other options are wrong. A component
that does not pass its tests is not asked about. What staff ask follows from the term's secret, the student and the
submission's content: it stays the same all term. What is about this assignment is in `assignment/own_work/`.
"""
