"""What goes into each archive, and how it is packed so that the same content gives the same bytes.

    contents.py       the students' archive, Gradescope's and the instructor's
    handed_out.py     which of the project's files leave it: tests with what they import, given code, corpus
    requirements.py   what has to be installed
    packing.py        whom each archive is for; zip, tar, manifest
    gradescope_container/   the programs that Gradescope runs

Nothing here writes a file.
"""
