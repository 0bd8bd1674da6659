"""Questions and bug hunts about students' own code: at home, in a conversation, or in a sitting in class.

    traced_questions.py  questions at home: a call is watched        boxes.py         hunts at home
    hunts.py      one line of a component is changed                 graded.py        own tests and hunts that were handed in
    versions.py   a component with a line changed, and its results   bench.py         the same in the sandbox, for staff
    student_lines.py  a student's statements, and one-line changes   operators.py     mutation operators behind them
    own_tests.py  what students' own tests find              made_code.py    what these are tried on
    test_names.py  a student's own tests, as text
    trained_models.py  a model that was trained with a mistake
    examiner.py   the kinds of questions that staff ask, which of them, and in which order
    behaviour.py  asks what the code does: shapes, numbers, calls, branches, symptoms
    changes.py    asks which change breaks a test, or leaves all equal; and hunts on paper
    question.py   questions and options, chosen so that nothing but the code tells the answer
    sheets.py     pages to print; seats, the key, and marks from what was answered

Every answer comes from running this student's code, and so does the proof that the other options are wrong. A component
that does not pass its tests is not asked about. What staff ask follows from the term's secret, the student and the
submission's content: it stays the same all term. What is about this assignment is in `assignment/own_work/`.
"""
