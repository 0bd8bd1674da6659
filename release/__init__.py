"""From the marked reference to what students get: `python -m release build`.

    reference/*.py --regions, strip, imports--> student/*.py --kit, archive--> dist/student.zip
                                                     `-- gates: proof that the release is sound

Every pass is a function from text to text (or from files to files) and knows nothing of the others. Nothing
is written before all gates have passed.

This package never runs in a student's hands and is not part of what they get.
"""
