"""Grades one submission: runs its tests, turns them into points, and keeps all that is known in a record.

    submission.py   opens a grader, grades a submission   recording.py   events, and the record that they make
    judging.py      judges, and yields events             record.py      the record, as JSON too
    own_tests.py    what students' own tests find         seeds.py       where random inputs come from
    made_code.py    what these are tried on; boxes of bug hunts
    explaining.py   what a student is told about a failure   grader_version.py  when a record is out of date

Only `judging` (with `own_tests`) needs PyTorch; `submission` imports it once the zygote runs.
"""
