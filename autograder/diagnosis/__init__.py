"""Names the misconception behind a failure: compares the answers of a submission with those of known faults.

While the tests run, a tape (of `sandbox.session`) records what the submission is asked and what it answers. After a
failure the recorded tests are played again, here, with each fault of the catalogue in the reference, and with the
submission's own parameters in the reference's places. A fault that gives the same answers is named with its hint.
Only the grader can do this: reference and catalogue stay with it, and no further submitted code runs.

    explaining.py   after the tests: what a student is told about a failure
    matching.py     finds the faults that give the submission's answers
    rehearsal.py    plays a recorded test with a component of ours, which may have a fault
    answers.py      answers in a form in which they can be compared
    recipes.py      which parameter of a submission belongs where
    catalogue.py    the known faults, as patches of the reference; a misconception that is named
    __main__.py     whether all of these fit the reference
"""
