"""Is a misconception recognised in code that is laid out differently?

Grades in the sandbox: the diagnosis works on what the sandbox records.

    command.py       `python -m validity prove-diagnosis`
    recognition.py   faults in other layouts, graded as submissions are, and what the diagnosis makes of them
    report.py        the shares in the terminal and as a page
"""
