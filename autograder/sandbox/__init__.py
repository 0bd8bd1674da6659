"""The trusted half of the sandbox: starts workers, talks to them, and shows tests an ordinary `nn.Module`.

    with Zygote() as zygote, Sandbox(sources, Limits(), zygote=zygote) as submission:
        norm = submission.build("layers.LayerNorm", 8)
        norm(torch.randn(2, 8)).sum().backward()

`Zygote`, `Limits` and the errors need no torch, so that the zygote can be started before this process imports it;
`Sandbox` does, and is imported when first asked for.

From the outside in: `submission` (what tests use), `mirror` and `gradient` (modules and autograd), `session` (one
worker's life), `replies` (what a worker may answer), `connection` (pipes with deadlines), `zygote`, `containment`
and `seccomp` (processes and their layers). The other half is `autograder/sandbox/worker/`.
"""

from foundation.limits import Limits

from .containment.zygote import Zygote
from .errors import (
    SandboxUnavailableError,
    SubmissionDiedError,
    SubmissionError,
    SubmissionRefusedError,
    SubmissionTimeoutError,
)

__all__ = [
    "Limits",
    "Sandbox",
    "SandboxUnavailableError",
    "SubmissionDiedError",
    "SubmissionError",
    "SubmissionRefusedError",
    "SubmissionTimeoutError",
    "Zygote",
]


def __getattr__(name: str) -> object:
    if name == "Sandbox":
        from .proxy.submission import Sandbox

        return Sandbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
