"""Names the misconception behind a failure: what a submission answered is compared with what known faults answer.

While the tests run, a tape (`sandbox.tape`) records what the submission is asked and what it answers. After a failure
the recorded tests are played again, here, with each fault of the catalogue in the reference, and with the
submission's own parameters in the reference's places. A fault that answers the same is named with its hint. Only the
grader can do this: reference and catalogue stay with it, and no further submitted code runs.

    explaining.py  after the tests: what a student is told
    matching.py    compares answers, names the fault
    rehearsal.py   plays a recorded test with a faulty component
    recipes.py     which parameter of the submission belongs where
    workshop.py    makes faulty components
    proving.py     the proof, with the layouts of layouts.py and relayout.py
"""
