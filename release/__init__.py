"""From the marked reference to what students get: `python -m release build | update`.

    skeleton.py    marked solutions: reference/*.py -> student/*.py
    prose.py       notebooks: Markdown, answers    notebooks.py  nbgrader's course of both
    handout.py     README.md, AGENTS.md, guide.html; their words are in templates/, the first cells too
    contents.py    what goes into which archive    packing.py    archives, the students' wheel
    build.py       makes all in memory, then puts it in its place
    gates.py       what a release has to prove     inspection.py  the gates that read: kinds of files, dropped tasks
    leaks.py       the search for solutions        legible.py    the texts in a file; what nobody can read
    update.py      a correction into students' folders
    __main__.py    the command line

Every pass is a function from text to text (or from files to files). Nothing is written before all gates have passed.
This package is not part of what students get.
"""

import sys

# nbformat imports jsonschema, which takes a second to compile the grammar of internationalised addresses if this
# package is installed, and does without it if it is not. No schema here checks addresses. To Python, None means
# "cannot be imported", which the type of `sys.modules` does not say.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
