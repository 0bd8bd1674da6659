"""The inside of the sandboxed process beside a submission: torch, a loader, and a small fixed set of verbs.

    zygote.py        has torch loaded, forks             surroundings.py  libraries, files that go nowhere
    service.py       answers the verbs                   hardening.py     gives up rights in the fork
    loading.py       makes modules of text               shortcuts.py     raises where a forbidden part is used
    running.py       settings, parameters, changes       messages.py      how values travel; used by both sides
    failures.py      an exception, described             mirror.py        objects of another process, as modules
    peers.py         students' own tests, what they call watching.py      reports ways round shortcuts

Nothing here is secret and nothing here judges. Whatever this package answers after a submission's code has
run is to be treated as an answer of the submission. The trusted half is `autograder/sandbox/`. Students get `loading`
and `running`, with which they run their own code.
"""
