"""The base of every package of the kit; it imports none of them.

    places.py             paths; the term's secret          whole_files.py   written in one piece or not at all
    assignment_file.py    tasks, points, thresholds         texts.py         what people read, made safe to show
    assignment_tables.py  contract, limits, late policy     command_line.py  what command lines share
    processes.py          jobs in forked children; time limits

Nothing in it knows of grading or of releases.
"""
