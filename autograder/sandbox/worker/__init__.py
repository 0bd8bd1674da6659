"""What runs in the sandboxed process beside a submission: torch, a loader, and a small fixed set of verbs.

    zygote.py     has torch loaded, forks                 service.py    answers the verbs
    hardening.py  gives up rights in the fork             loading.py    makes modules of text; what they can import
    settings.py   no import changes them for others       changes.py    what a call has written into its arguments
    files.py      what is written goes nowhere            shortcuts.py  raises where a forbidden part is used
    objects.py    what the submission has built           failures.py   an exception, described
    values.py, frames.py  how values travel; used by both sides

Nothing here is secret and nothing here judges. Whatever this package says after a submission's code has run
is to be treated as said by the submission. The trusted half is `autograder/sandbox/`.
"""
