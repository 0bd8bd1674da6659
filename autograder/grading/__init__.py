"""Grades one submission: runs its tests, turns them into points, and keeps all that is known in a record.

    launcher.py     starts what graders need              submission.py  all events of one submission
    judging.py      judges, and yields events             recording.py   folds events into a record
    translations.py the part that BLEU judges             record.py      the record, as JSON too
    seeds.py        where random inputs come from         events.py      what can be told
    trainability.py does the whole learn?                 learned_model.py  what a checkpoint's model does
    grader_version.py  when a record is out of date

Only `judging` (with `trainability`) needs PyTorch; `launcher` imports it once the zygote has been
started.
"""
