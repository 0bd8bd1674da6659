"""Runs submitted code in contained worker processes, and shows it to tests as ordinary `nn.Module` objects.

    with Zygote(assignment) as zygote, Sandbox(sources, assignment, zygote=zygote) as submission:
        norm = submission.build("layers.LayerNorm", 8)
        norm(torch.randn(2, 8)).sum().backward()

`Zygote` and the errors need no PyTorch, so that the zygote can be started before this process imports it. `Sandbox`
(`submission.py`) does.

From the outside in:

    submission.py  the submission, and own tests' peers  kept.py    its limits, lines, output
    session.py     one worker: requests, deadlines, end  errors.py  failures of submitted code
    replies.py     what a worker may answer             layers.py  of containment; the filter of system calls
    zygote.py      starts the zygote, and workers from it
    worker/        the other half, and the mirror

Decisions on the protocol, seccomp and Landlock: `docs/explanation/decisions-sandbox.md`.
"""
