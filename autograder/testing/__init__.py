"""Component tests: what they use, and how they run on a submission, here or in the sandbox.

calls.py        one call, and what is expected of it      case.py         random inputs
comparison.py   checks that say what is wrong             observation.py  what a wrong result shows
own_values.py   a component compared with itself          under_test.py   a submission's operations
results.py      how tests end, and points                 fixtures.py     pytest's plugin
in_process.py   a student's own run: the submission       own_run.py      and what it has earned
grading_python.py  what an older Python could not read    collection.py   the tests, collected once
collected_tests.py  run on a sandboxed submission         checking_time.py  and within limits of time
arguments.py    copies and changes of arguments           notebook/       checks in a student's notebook
"""
