"""What runs in the sandboxed process beside a submission: torch, a loader, and a small fixed set of verbs.

Nothing here is secret and nothing here judges. Whatever this package says after a submission's code has run
is to be treated as said by the submission. The trusted half is `autograder/sandbox/`.

Modules, from the outside in: `zygote` (has torch loaded, forks), `hardening` (gives up rights in the fork),
`service` (answers the verbs), `loading` (makes modules of text), `branches` (has a module report which outcomes of its
branches were reached) and `outcomes` (lists all of them; used by both sides), `changes` (what a call has written into
its arguments), `settings` (which no import changes for other modules), `available` (what can be imported), `files`
(what is written goes nowhere), `values` and `frames` (how arrays travel; used
by both sides).
"""
