"""The base of every package of the kit; it imports none of them.

    places.py             the paths of the kit's parts          whole_files.py      written in one piece or not at all
    assignment_file.py    reads tasks and contract              printable_text.py   text from strangers, made harmless
    contract.py           what submissions must offer           command_line.py     what command lines share
    submission_limits.py  what a submission may use             child_processes.py  jobs in forked children
    term_secret.py        what seeds follow from                todo_wording.py     a TODO's comment, and its error
    watchdog.py           time limits for our own code          sources.py          a package's modules as text
    late_policy.py        what handing in late costs            counting.py         1 mark, 2 marks
    toml_tables.py        values of a TOML file, checked

Nothing in it knows of grading or of releases.
"""
