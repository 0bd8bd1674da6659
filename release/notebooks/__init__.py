"""From prose and the marked reference to notebooks: an nbgrader course.

    prose.py            reads the prose: Markdown, with lines in double braces
    answers.py          what the answer cells hold, cut out of the reference
    source_notebook.py  both together: a notebook with solutions
    nbgrader_course.py  all notebooks and what lies beside them; nbgrader makes the students' version
    todo_stubs.py       nbgrader's stubs with the number of their TODO

The prose is written once, in Markdown; the code comes from the reference with its markers, which are nbgrader's own.
Nothing of `notebooks/source/` leaves.
"""
