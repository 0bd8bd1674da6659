"""Own tests, questions and bug hunts about students' own code: at home, in a conversation, or in a sitting in class.

    question.py   a question, and options chosen so that nothing but the code reveals the answer
    traced_questions.py  questions about a call that is watched; those at home
    behaviour.py  asks what the code does: shapes, numbers, calls, branches, symptoms; and hunts on paper
    examiner.py   the kinds of questions that staff ask, which of them, and in which order
    sheets.py     pages to print; seats, the key, and how many answers are right
    hunts.py      one line of a component is changed
    boxes.py      hunts at home; a model that was trained with a mistake
    versions.py   a component with a line changed, and its results; bench.py has it in the sandbox
    student_lines.py  a student's code as text, and one-line changes; operators.py has the mutations behind them
    own_tests.py  the faults that students' own tests find; made_code.py has the implementations
    graded.py     judges own tests and hunts that were handed in

Every answer comes from running this student's code, and so does the proof that the other options are wrong. A component
that does not pass its tests is not asked about. What staff ask follows from the term's secret, the student and the
submission's content: it stays the same all term. What is about this assignment is in `assignment/own_work/`.
"""
