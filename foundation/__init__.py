"""The base of every package of the kit; it imports none of them.

    places.py           the paths of the kit's parts          whole_files.py      written in one piece or not at all
    assignment_file.py  reads the tasks                       printable_text.py   text from strangers, made harmless
    limits.py           of one submission                     command_line.py     what command lines share
    term_secret.py      what seeds are drawn from             child_processes.py  jobs in forked children
    time_limit.py       limits for our own code               todo_comments.py    the form of a TODO
    sources.py          a package's modules as text

Nothing in it knows of grading or of releases.
"""
