"""Grades one submission: runs its tests, turns them into points, and keeps all that is known in a record.

    submission.py  opens a grader, grades a submission    record.py      the record, and how it grows
    judging.py     judges, explains, yields records       provenance.py  seeds; when a record is out of date
    scoring.py     BLEU, its interval, thresholds, and why it is low

Only `judging` needs PyTorch; `submission` imports it once the zygote runs.
"""
