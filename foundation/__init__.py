"""The base of every package of the kit; it imports none of them.

    places.py             the paths of the kit's parts          whole_files.py      written in one piece or not at all
    assignment_file.py    reads tasks and contract              texts.py            texts that people read, made harmless
    contract.py           what submissions must offer           command_line.py     what command lines share
    submission_limits.py  what a submission may use             child_processes.py  jobs in forked children
    late_policy.py        what handing in late costs            watchdog.py         time limits for our own code
    toml_tables.py        values of a TOML file, checked        term_secret.py      what seeds follow from

Nothing in it knows of grading or of releases.
"""
