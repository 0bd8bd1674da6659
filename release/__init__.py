"""From the marked reference to what students get: `python -m release build`.

    __main__.py   the command line                      build.py      everything, in memory
    problems.py   what is wrong with the input          placing.py    puts it in its place; compares
    report.py     what is printed                       preflight.py  corpus and tests, before the gates
    handout.py    the students' README.md               instructor_texts.py   read, filled in, with pictures

    skeleton/     reference/*.py -> student/*.py        notebooks/    prose and reference -> an nbgrader course
    archives/     student, instructor, Gradescope zips  update/       a corrected release into a student's folder
    gates/        what a release has to prove           leaks.py      the search for solutions in what leaves

Every pass is a function from text to text (or from files to files) and knows nothing of the others. Nothing
is written before all gates have passed. This package is not part of what students get.
"""

import sys

# nbformat imports jsonschema, which takes a second to compile the grammar of internationalised addresses if this
# package is installed, and does without it if it is not. No schema here checks addresses. To Python, None means
# "cannot be imported", which the type of `sys.modules` does not say.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
