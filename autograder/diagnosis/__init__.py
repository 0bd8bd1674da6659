"""Names the misconception behind a failure, from a catalogue of known faults, which only the grader has.

A pattern of failed tests is compared with that of each fault; no further code runs beside the submission.

    explaining.py   after the tests: what a student is told about a failure
    catalogue.py    the known faults, as patches of the reference, and the patterns of failed tests
    __main__.py     whether all of these fit the reference
"""
