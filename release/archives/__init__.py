"""What goes into each archive, and how it is packed so that the same content gives the same bytes.

    student.py           the students' archive           handout.py  the students' README.md
    gradescope.py        the grading server's            gradescope_container/   the programs that Gradescope runs
    instructor.py        what the instructor keeps       pinned_versions.py       of installed packages
    needed_modules.py    followed through imports        audience.py              whom each archive is for
    packing.py           zip, tar, manifest              pictures.py             in what students read

Nothing here writes a file.
"""
