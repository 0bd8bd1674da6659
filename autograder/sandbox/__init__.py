"""Runs submitted code in contained worker processes, and shows it to tests as ordinary `nn.Module` objects.

    with Zygote(assignment) as zygote, Sandbox(sources, assignment, zygote=zygote) as submission:
        norm = submission.build("layers.LayerNorm", 8)
        norm(torch.randn(2, 8)).sum().backward()

`Zygote` (`containment.zygote`) and the errors need no PyTorch, so that the zygote can be started before this process
imports it. `Sandbox` (`proxy.submission`) does.

From the outside in:

    proxy/         the submission as tests see it              replies.py     what a worker may answer
    supervisor.py  budgets of one submission                   connection.py  pipes with deadlines
    session.py     the life of one worker                      containment/   processes and their layers
    imports.py     what is done about imports                  worker/        the other half, which runs in the worker
    errors.py      failures of submitted code

Decisions: `docs/explanation/decisions.md` on the protocol, seccomp and Landlock.
"""
