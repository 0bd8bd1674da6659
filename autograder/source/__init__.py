"""The Python text of a submission: read and parsed, never run. Students get it with the tests, intake they do not.

python_source.py   from bytes to text
syntax_trees.py    syntax trees and imports
grading_python.py  what an older Python that grades could not read
errors.py          why a submission is refused
"""
