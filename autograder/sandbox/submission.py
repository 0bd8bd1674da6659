"""A submission in a worker, as a `testing.case.SubmissionUnderTest`; in another, what its own tests call."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import chain

import torch

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Contract

from ..intake.sources import Locate, Sources, failing_module, file_of, in_module, tree_of
from .errors import SandboxUnavailableError, SubmissionDiedError, SubmissionError, SubmissionTimeoutError
from .kept import Budget, Notices, Output
from .session import Session
from .worker.failures import AT_IMPORT
from .worker.messages import DTYPE_NAMES, Encoder
from .worker.mirror import RemoteModule
from .zygote import Zygote

PAIRS = 60
"""Of pipes, for as many workers with tests, one after the other."""
MOST_STARTS = 6


class Sandbox(AbstractContextManager["Sandbox"]):
    """A submission in another process, with the methods that tests use, and its account: budget, notices, output.

    A worker is started when it is first needed, and again after one has died; objects of a dead worker raise
    SubmissionDiedError.

    Args:
        sources: the submission's modules, merged with the release's.
        assignment: its contract and its limits.
        zygote: that workers are forked from.
        locate: where the student finds a line, from module and number: "work.ipynb, cell 7, line 3".
        is_fair: whether a component must leave time to the others.
        descriptors: further ones that the first worker gets, and which are closed here.
    """

    def __init__(
        self,
        sources: Sources,
        assignment: Assignment,
        *,
        zygote: Zygote,
        locate: Locate = in_module,
        is_fair: bool = True,
        descriptors: Sequence[int] = (),
    ) -> None:
        sources = searched(sources)
        self.sources, self.contract = sources, assignment.contract
        self._sources, self.assignment, self.zygote, self.locate = sources, assignment, zygote, locate
        self.budget = Budget(assignment.limits, is_fair)
        self.printed = Output(assignment.limits.output_kb << 10)
        self.notices = Notices()
        self._sessions: dict[bool, Session] = {}  # by whether it is strict
        self._uses_at_import: set[bool] = set()  # where modules are imported before what is forbidden refuses
        self._descriptors = descriptors
        self._layers: tuple[str, ...] | None = None

    def build(
        self, component: str, *args: object, dtype: torch.dtype | None = None, isolated: bool = True, **kwargs: object
    ) -> RemoteModule:
        """Makes an object of the submission's class "module.Name", which must derive from `nn.Module`.

        `testing.case.SubmissionUnderTest` has the arguments. Raises SubmissionError, as all of these methods.
        """
        target = {"component": component, "isolated": isolated}
        made = self.session(component).build(component, target, args, kwargs, DTYPE_NAMES[dtype] if dtype else None)
        if dtype and any(parameter.dtype != dtype for parameter in made.parameters()):
            raise SubmissionError(f"{component}: not all of its parameters follow .to({dtype})")
        return made

    def call(self, component: str, *args: object, isolated: bool = True, **kwargs: object) -> object:
        """Calls the submission's function "module.name"."""
        target = {"component": component, "isolated": isolated, "stand_in": None}
        return self.session(component).call(component, target, args, kwargs)

    def apply(self, name: str, subject: RemoteModule | str, *args: object, isolated: bool = True) -> object:
        """Calls a stand-in that is a function, with an object or a component "module.name" of the submission."""
        if not isinstance(subject, str):
            return subject.call("forward", args, {}, name)
        target = {"component": subject, "isolated": isolated, "stand_in": name}
        return self.session(subject).call(subject, target, args, {})

    def session(self, component: str) -> Session:
        """A living session for a call on behalf of `component`.

        If it must be started, all modules are imported first: that time is no component's.
        """
        self.budget.check(component)
        rules = self.contract.forbidden
        is_strict = not rules.components or component in rules.components
        try:
            if not self._serves(self._sources, is_strict):
                self._sources = self._imported(self._sources, is_strict)
            return self._session_with(self._sources, is_strict)
        except SandboxUnavailableError as error:
            self.budget.failure = error
            raise

    def _session_with(self, sources: Sources, is_strict: bool) -> Session:
        """A living session with these sources: the current one of its kind, or a new one in its place."""
        if not self._serves(sources, is_strict):
            self._end(is_strict)
            kept, self._descriptors = self._descriptors, ()
            session = Session(self, sources, kept, is_strict=is_strict)
            self._sessions[is_strict] = session
            if self._layers not in (None, session.layers):
                raise SandboxUnavailableError(f"the layers of the sandbox fell from {self._layers} to {session.layers}")
            self._layers = session.layers
            if not kept and is_strict not in self._uses_at_import:  # to students' own tests nothing is forbidden
                session.refuse()
        return self._sessions[is_strict]

    def _serves(self, sources: Sources, is_strict: bool) -> bool:
        """True if a session of this kind is alive and has these sources."""
        session = self._sessions.get(is_strict)
        return session is not None and session.is_alive and session.sources == sources

    def _imported(self, sources: Sources, is_strict: bool) -> Sources:
        """The sources as `_defused` returns them; a session has imported them, and what is forbidden refuses there.

        Where a module uses it while it is imported, which is listed, it refuses only after the imports.
        """
        sources = self._defused(sources, is_strict)
        if is_strict not in self._uses_at_import and any(name == AT_IMPORT for *_, name in self.notices.seen):
            self._uses_at_import.add(is_strict)
            self._end(is_strict)
            sources = self._defused(sources, is_strict)
        if is_strict in self._uses_at_import:
            self._session_with(sources, is_strict).refuse()
        return sources

    def _defused(self, sources: Sources, is_strict: bool) -> Sources:
        """The sources with every module replaced that ends its process when it is imported.

        Isolating one component imports all modules: a `layers.py` that loops at its top level would cost all of them.
        """
        suspects: dict[str, str] = {}
        for name in sources:
            if name != "__init__" and (reason := self._end_of_import(without(sources, suspects), name, is_strict)):
                suspects[name] = reason
        for name in list(suspects):  # a suspect may only have imported another one
            others = {other: reason for other, reason in suspects.items() if other != name}
            if others and not self._end_of_import(without(sources, others), name, is_strict):
                del suspects[name]
        return without(sources, suspects)

    def _end_of_import(self, sources: Sources, module: str, is_strict: bool) -> str:
        """Imports a module; returns why the worker ended, or ""."""
        component = f"import of {module}"
        try:
            self.budget.check(component)
            session = self._session_with(sources, is_strict)
            session.request(component, "import", {"module": module}, Encoder(), lambda answer: None)
        except (SubmissionTimeoutError, SubmissionDiedError) as error:
            if self.budget.seconds >= self.assignment.limits.total_seconds:  # not this module's fault alone
                raise
            ending = "took too long" if isinstance(error, SubmissionTimeoutError) else "ended its process"
            return f"{ending} when it was imported: {error.message}"
        except SubmissionError:
            pass  # the loader keeps the error and raises it when one of the module's components is requested
        return ""

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers of containment that were reached; starts a worker to find out."""
        return self.session("").layers if self._layers is None else self._layers

    @property
    def output(self) -> str:
        """The submission's output so far, cleaned and cut."""
        return self.printed.text()

    def restart(self) -> None:
        """Ends the workers; the next call gets a fresh one. All objects are gone."""
        for is_strict in (*self._sessions,):
            self._end(is_strict)

    def _end(self, is_strict: bool) -> None:
        if session := self._sessions.pop(is_strict, None):
            session.check_refusals()
            session.end("it was restarted or closed")

    def __exit__(self, *details: object) -> None:
        self.restart()


def searched(sources: Sources) -> Sources:
    """The sources without modules that Python may run, but whose text nobody has searched."""
    trees = {name: tree_of(text) for name, (_, text) in sources.items()}
    unread = {name: tree.msg for name, tree in trees.items() if isinstance(tree, SyntaxError) and not tree.lineno}
    return without(sources, {name: f"cannot be read: {why}" for name, why in unread.items()})


def without(sources: Sources, reasons: dict[str, str]) -> Sources:
    """The sources with some modules replaced by ones whose import raises the reason, which continues their names."""
    replaced = {name: failing_module(name, f"{file_of(name)} {reason}") for name, reason in reasons.items()}
    return {**sources, **replaced}


class Implementations:
    """A worker with implementations, which workers with a student's own tests call: the trusted side's part in it.

    Each worker with tests gets the ends of two pipes of its own. The one with implementations has the other ends of
    many such pairs, and serves one pair after the other. It is started when it is first needed.
    """

    def __init__(self, assignment: Assignment, zygote: Zygote) -> None:
        self._zygote = zygote
        self._assignment = replace(assignment, contract=Contract({}))
        self._sandbox: Sandbox | None = None
        self._ends: list[tuple[int, int]] = []
        self._starts = 0

    def offer(self, texts: Mapping[str, str]) -> tuple[int, int]:
        """Have implementations served, by component; return the pipes for the worker that is to call them.

        Each text sets the name `implementation`.

        Raises: SubmissionTimeoutError if what was asked before has ended too many of these workers.
        """
        while True:
            if self._sandbox is None or not self._ends or self.has_ended:
                self._sandbox = self._start()
            try:
                self._sandbox.session("").request("", "serve", {"texts": texts}, Encoder(), lambda answer: None)
                return self._ends.pop(0)
            except SubmissionError:  # it is busy, or has ended, because of what the tests before have asked
                self.close()

    @property
    def has_ended(self) -> bool:
        """True if the worker has ended: no test brings that about by usual calls."""
        return self._sandbox is None or self._sandbox.session("").has_ended

    def _start(self) -> Sandbox:
        self.close()
        self._starts += 1
        if self._starts > MOST_STARTS:
            raise SubmissionTimeoutError("what the tests ask for takes too long, or too much memory")
        theirs = []
        for _ in range(PAIRS):
            (their_requests, requests), (replies, their_replies) = os.pipe(), os.pipe()
            theirs += [their_requests, their_replies]
            self._ends.append((requests, replies))
        sources = {"__init__": ("__init__.py", "")}
        return Sandbox(sources, self._assignment, zygote=self._zygote, is_fair=False, descriptors=theirs)

    def close(self) -> None:
        """End the worker."""
        for descriptor in chain(*self._ends):
            os.close(descriptor)
        self._ends = []
        if self._sandbox is not None:
            self._sandbox.restart()
            self._sandbox = None
