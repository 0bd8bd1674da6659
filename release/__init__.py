"""From the marked reference to what students get: `python -m release build`.

    reference/*.py --regions, strip, imports--> student/*.py --kit, archive--> dist/student.zip
                                                     `-- gates: proof that the release is sound

The parts, in the order in which a release is made:

    __main__.py     the command line                  build.py         everything in memory, then in its place
    source.py       one file, read once               markers.py       first pass: solution markers
    lookalikes.py   what was meant as a marker        hints.py         second: TODO comments
    regions.py      third: whole statements           strip.py         fourth: a region becomes a `raise`
    imports.py      fifth: imports no longer used     skeleton.py      all passes over one folder
    problems.py     what is wrong with the input      report.py        what is printed

    kit.py          which files students get          closure.py       which modules those need
    handout.md      their README (handout.py fills    audience.py      the archives, and who gets which
                    it in)                            archive.py       zip and tar that are the same each time
    notebooks/      the nbgrader course               gradescope/      what goes there (pins.py: exact versions)
    instructor.py   what the instructor keeps         update/          a corrected release into a folder at work

    gates/          what a release has to prove       solutions.py     what must not leave
    contents.py     files down to their texts         pieces.py, fingerprints.py   how it is looked for

Every pass is a function from text to text (or from files to files) and knows nothing of the others. Nothing
is written before all gates have passed.

This package never runs in a student's hands and is not part of what they get.
"""
