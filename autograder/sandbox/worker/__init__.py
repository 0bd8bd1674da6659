"""The inside of the sandboxed process beside a submission: torch, a loader, and a small fixed set of verbs.

    zygote.py    has torch loaded, forks               surroundings.py  libraries, rights and files of a fork
    service.py   objects and calls for another side    shortcuts.py     refuses what is forbidden
    loading.py   makes modules of text                 audit.py         reports what a way around that needs
    running.py   settings, parameters, changes         messages.py      how values travel; used by both sides
    failures.py  an exception, described               mirror.py        objects of another process, as modules
    instruments.py  compiles submitted text so that `audit.py` hears of its modules
    peers.py     the verbs of a worker, and students' own tests with what they call

Nothing here is secret and nothing here judges. Whatever this package answers after a submission's code has
run is to be treated as an answer of the submission. The trusted half is `autograder/sandbox/`. Students get `loading`
and `running`, with which they run their own code.
"""
