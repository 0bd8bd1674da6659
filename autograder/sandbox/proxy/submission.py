"""A submission in a sandboxed worker, with the same methods as the one in `autograder.testing.in_process`."""

from __future__ import annotations

from collections.abc import Container

import torch
from torch import nn

from autograder.sources import Locate, Sources, in_module
from foundation.assignment_file import Assignment
from foundation.assignment_tables import Limits

from ..containment.zygote import Zygote
from ..errors import SandboxUnavailableError, SubmissionError
from ..session import Tape
from ..supervisor import Supervisor
from ..worker.values import DTYPE_NAMES
from .calling import Caller
from .mirror import RemoteModule, RemoteObject


class Sandbox:
    """A submission in another process, with the methods that tests use.

    A worker is started when it is first needed, and again after one has died; objects of a dead worker raise
    SubmissionDiedError. A component that has cost `limits.failures_a_component` workers is not called again.

    Args:
        sources: module name -> path, source text; the submission's merged with the release's.
        assignment: its contract and its limits.
        limits: of this submission, where they are not the assignment's.
        level: of containment, where no zygote is given; see `containment.layers.LEVELS`.
        zygote: to fork from; without it one is started, and ended with this object.
        tape: records what is asked and answered.
        locate: where the student finds a line, from module and number: "work.ipynb, cell 7, line 3".
        killed_before: components during whose calls a worker was killed from outside in an earlier attempt.

    Raises:
        SandboxUnavailableError: where the machine lacks what the level requires (also later, when a worker starts).
    """

    def __init__(
        self,
        sources: Sources,
        assignment: Assignment,
        *,
        limits: Limits | None = None,
        level: str = "auto",
        zygote: Zygote | None = None,
        tape: Tape | None = None,
        locate: Locate = in_module,
        killed_before: Container[str] = (),
    ) -> None:
        self.tape, self.sources = tape, sources
        self._own_zygote: Zygote | None = None
        if zygote is None:
            zygote = self._own_zygote = Zygote(assignment, level)
        self.contract = assignment.contract
        self._supervisor = Supervisor(
            sources, self.contract, limits or assignment.limits, zygote, tape, locate, killed_before
        )
        self._caller = Caller(self._supervisor, self.contract.methods)

    def build(
        self,
        component: str,
        *args: object,
        dtype: torch.dtype | None = None,
        isolated: bool = True,
        **kwargs: object,
    ) -> RemoteModule | RemoteObject:
        """Makes an object of the submission's class "module.Name".

        Args:
            component: a class of the contract.
            *args: for its constructor.
            dtype: of its parameters and buffers; None = as made.
            isolated: every other component is replaced by its stand-in, now and in later calls.
            **kwargs: for its constructor.

        Raises:
            SubmissionError: what the constructor raised, or why there was no answer.
        """
        content = {"component": component, "isolated": isolated, "dtype": dtype and DTYPE_NAMES[dtype]}
        made = self._caller.make("build", component, content, args, kwargs)
        if isinstance(made, RemoteObject) and component.partition(".")[2] in self.contract.nn_modules:
            raise SubmissionError(f"{component} is not an nn.Module: its class must derive from it")
        if dtype and isinstance(made, RemoteModule) and any(p.dtype != dtype for p in made.parameters()):
            raise SubmissionError(f"{component}: not all of its parameters follow .to({dtype})")
        return made

    def stand_in(self, name: str, *args: object, **kwargs: object) -> RemoteModule | RemoteObject:
        """Makes a stand-in in the worker, to be passed as an argument."""
        return self._caller.make("stand_in", f"stand_ins.{name}", {"name": name}, args, kwargs)

    def call(self, component: str, *args: object, isolated: bool = True, **kwargs: object) -> object:
        """Calls the submission's function "module.name"."""
        target = {"function": component, "isolated": isolated}
        return self._caller.call(self._supervisor.session(component), component, target, [], args, kwargs)

    def apply(
        self, name: str, subject: RemoteModule | RemoteObject | str, *args: object, isolated: bool = True
    ) -> object:
        """Calls a stand-in that is a function, with an object or a component "module.name" of the submission.

        The component of `subject` is blamed if the worker dies.
        """
        if isinstance(subject, str):
            named = {"stand_in": name, "function": subject, "isolated": isolated}
            return self._caller.call(self._supervisor.session(subject), subject, named, [], args, {})
        handle = subject._handle
        target = {"stand_in": name, "subject": handle.number}
        return self._caller.call(handle.session, handle.component, target, [], (subject, *args), {})

    def parameters(self, module: RemoteModule) -> list[nn.Parameter]:
        """The parameters with their current values in the worker, which training there may have changed."""
        self._caller.refresh(module)
        return list(module.parameters())

    @property
    def failure(self) -> SandboxUnavailableError | None:
        """Why the sandbox itself has failed; None = it has not. Tests that were under way tell nothing then."""
        return self._supervisor.failure

    def check(self) -> None:
        """Raises SandboxUnavailableError where the sandbox has failed: what was found since then says nothing."""
        if self.failure is not None:
            raise self.failure

    @property
    def level(self) -> str:
        """The containment reached, for the record."""
        return self._supervisor.level

    @property
    def output(self) -> str:
        """The submission's output so far, cleaned and cut."""
        return self._supervisor.output.text()

    @property
    def cpu_seconds(self) -> float:
        """CPU time of the submission's workers so far."""
        return self._supervisor.cpu_seconds

    @property
    def seconds(self) -> float:
        """Wall time spent waiting for the submission so far."""
        return self._supervisor.seconds

    def grant_the_rest(self) -> None:
        """From now on any component may use all the time that is left: they are judged, and what follows is one run."""
        self._supervisor.is_fair = False

    def restart(self) -> None:
        """Ends the worker; the next call gets a fresh one. All objects are gone."""
        self._supervisor.end("it was restarted")

    def close(self) -> None:
        """Ends the worker, and the zygote if this object has started it."""
        self._supervisor.end("it was closed")
        if self._own_zygote is not None:
            self._own_zygote.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()
