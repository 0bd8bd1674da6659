"""Judges one submission: its translations by BLEU, its components by their tests in the sandbox.

Nothing here imports, unpickles or evaluates any part of the submission. The judgement is a function of the
submission, the assignment, the seed and the grader's version, but for limits of time.

A failed task is explained by the known faults that its tests see the same of. For that they run once more, with the
seed of the stored patterns; no mark depends on it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from foundation.assignment_file import Assignment, Task
from foundation.places import ANSWERS
from foundation.processes import CPU, check_main_thread, time_limit

from ..at_home.hints import ENOUGH, SEED, Pattern, closest, fitting, pattern_of, read_hints
from ..course.assignment_code import part_of
from ..course.catalogue import Fault, faults_of, read_patterns
from ..intake.names import Use, find_internals, find_mentions, uses_in
from ..intake.statements import code_of_tests, find_copied
from ..intake.submission import Intake
from ..intake.tree import TRANSLATIONS
from ..own_work.graded import judge_own_work
from ..own_work.own_tests import Implementation, implementations_of
from ..running.collected_tests import CollectedTests
from ..sandbox.errors import SubmissionError
from ..sandbox.kept import Notices
from ..sandbox.submission import Sandbox
from ..sandbox.zygote import Zygote
from ..testing.results import Finding, Outcome, State, TaskResult, explain, judge_task, most_telling, with_contrast
from .record import BY_HAND, MOST_SHOWN, Record, judge_bleu
from .scoring import LOW, Note, Score, ScoringError, read_references, read_sources, read_translations, score, why_low

SEARCH_SECONDS = 25.0  # CPU time of this process for the search of a submission's text
UNDONE = "no proof that what is forbidden still refuses, and that the worker's own functions are unchanged,"


@dataclass
class Grader:
    """The means to judge all submissions of an assignment; see `submission.open_grader`."""

    assignment: Assignment
    references: Path  # of the test split
    tests: CollectedTests
    zygote: Zygote  # that workers are forked from
    level: str = "auto"  # of containment
    implementations: dict[str, dict[str, list[Implementation]]] = field(init=False)  # by task and component
    code_of_tests: dict[int, str] = field(init=False)  # expressions that submissions should not repeat

    def __post_init__(self) -> None:
        tasks = [task for task in self.assignment.tasks if task.tests_of]
        self.implementations = {task.number: implementations_of(task, self.assignment) for task in tasks}
        self.code_of_tests = code_of_tests(self.assignment.folder, self.assignment.contract)

    def judge(self, submission: Intake, seed: int, record: Record, show_progress: bool = False) -> Iterator[Record]:
        """Judges a submission that was taken in; yields the record with what is known so far, a finished one at last.

        Raises: SandboxUnavailableError where the machine cannot contain the submission as asked, or something outside
        has ended the zygote or a worker, for which no test is blamed; RuntimeError outside a process's main thread.
        """
        check_main_thread()
        assignment, forbidden = self.assignment, self.assignment.contract.forbidden
        own = (submission.submitted & submission.sources.keys()) - {*assignment.own_tests}
        handed_in = {name: submission.sources[name] for name in sorted(own)} if forbidden.components else {}
        mentions, copied, in_text = list[str](), list[str](), list[Use]()
        try:
            with time_limit(SEARCH_SECONDS, CPU):
                copied += find_copied(submission, own, assignment.contract, self.code_of_tests)
                in_text += uses_in(submission.sources, own, forbidden)
                mentions += find_mentions(handed_in, forbidden, submission.locate)
        except TimeoutError:
            copied.append(f"all of it: the search of the text was ended after {SEARCH_SECONDS:g} s of CPU time")

        def to_read(notices: Notices) -> tuple[str, ...]:
            """What a person should read: kernels put back, copies, and uses of internals."""
            places = ((component, submission.locate(component.partition(".")[0], 1)) for component in notices.unguarded)
            undone = [f"{UNDONE} after calls of {component}: {place}" for component, place in places]
            given, seen, locate = submission.release, notices.seen, submission.locate
            internals = find_internals(submission.sources, own, forbidden, given, locate, seen, in_text)
            return *undone, *copied, *internals

        notes = [*submission.notes, *(mention.removeprefix("note: ") for mention in mentions)]
        bleu, results = judge_translations(submission, assignment, self.references, notes.append)
        record = record.judged(results, notes, bleu=bleu, internals=to_read(Notices()))
        tested = [task for task in assignment.tasks if task.has_component_tests]
        known: dict[str, TaskResult] = {}
        modules = {name: source for name, source in submission.sources.items() if name not in assignment.own_tests}
        with Sandbox(modules, assignment, zygote=self.zygote, locate=submission.locate) as sandbox:
            for outcomes in self.tests.run(sandbox, seed, show_progress):
                sandbox.budget.check_sandbox()
                done = [t for t in tested if t.marker in outcomes and t.number not in known]
                results = [judge_task(task, outcomes[task.marker], assignment.credit) for task in done]
                results = [replace(each, score=0.0) if each.state is State.REFUSED else each for each in results]
                known |= {result.task.number: result for result in results}
                internals = to_read(sandbox.notices)
                record = record.contained(sandbox.layers, sandbox.output).judged(results, internals=internals)
                yield record
            for nodeid in self.tests.exhausted_by:
                record = record.noted_of_run(f"the grader stopped checking answers in {nodeid}")
            untested = [judge_task(task, [], assignment.credit) for task in tested if task.number not in known]
            by_hand = [left_to_people(task, submission.answers) for task in assignment.tasks if task.by_hand]
            explained = find_misconceptions(known.values(), self.tests, sandbox, assignment)
            odd = look_at_whole(known.values(), sandbox, assignment)
            sandbox.restart()
            own_work = [
                judge_own_work(submission, task, self, self.implementations.get(task.number, {}), seed)
                for task in assignment.tasks
                if task.tests_of or task.understanding == "hunts"
            ]
            results = [*untested, *by_hand, *explained, *own_work]
            internals = *odd, *to_read(sandbox.notices)
            cut = f"{len(internals)} places are to be read: pages have the first {MOST_SHOWN}, the record has all"
            record = record.noted_of_run(cut) if len(internals) > MOST_SHOWN else record
            yield record.judged(results, internals=internals).finished()

    def renew(self) -> None:
        """Starts another zygote where the present one has ended, and this process has started it."""
        if self.zygote.is_ours and self.zygote.has_ended:
            self.zygote.close()
            self.zygote = Zygote(self.assignment, self.level)


def look_at_whole(results: Iterable[TaskResult], sandbox: Sandbox, assignment: Assignment) -> list[str]:
    """Reasons to look at a submission as a whole, if all of its parts are right; see `expected/whole.py`."""
    judged = [result for result in results if result.task.points and not result.task.extension]
    module = part_of(assignment, "expected.whole")
    if module is None or any(result.state is not State.PASSED for result in judged):
        return []
    try:
        return list(filter(None, [module.look_at_whole(sandbox)]))
    except (SubmissionError, RuntimeError, TypeError, ValueError) as error:  # also over an answer of another kind
        reason, *_ = str(error).split("\n")
        return [f"the whole model cannot be trained, though its parts are right: {reason}"]


def left_to_people(task: Task, answers: str) -> TaskResult:
    """A task that people mark, with what a student has written for them; the same text with each such task."""
    if task.written:
        state = State.NEEDS_READER if answers else State.NOT_ATTEMPTED
        return TaskResult(task, state, 0.0, answers or f"nothing is written in {ANSWERS}")
    return TaskResult(task, State.NOT_ATTEMPTED, 0.0, BY_HAND)


def judge_translations(
    intake: Intake, assignment: Assignment, references: Path, note: Note = lambda line: None
) -> tuple[Score | None, list[TaskResult]]:
    """The BLEU of translations, None where they cannot be scored, and the results of the tasks that ask for one."""
    tasks = [task for task in assignment.tasks if task.threshold]

    def all_in(state: State, message: str) -> tuple[None, list[TaskResult]]:
        return None, [TaskResult(task, state, 0.0, message) for task in tasks]

    if intake.translations_problem:
        return all_in(State.NOT_GRADED, intake.translations_problem)
    if intake.translations is None:
        message = f"no {TRANSLATIONS}: expected one line for each test sentence, in order"
        return all_in(State.NOT_ATTEMPTED, message)
    try:
        targets = read_references(references)
    except ScoringError as error:
        return all_in(State.GRADER_ERROR, f"the references cannot be read: {error}")
    try:
        lines = read_translations(intake.translations, name=TRANSLATIONS, expected=len(targets), note=note)
        bleu = score(lines, targets)
    except ScoringError as error:
        return all_in(State.ERROR, str(error))
    results = [judge_bleu(task, bleu, assignment) for task in tasks]
    if any(result.state is State.FAILED for result in results):
        for reason in why_low(lines, targets, read_sources(references)):
            note(LOW + reason)
    return bleu, results


def find_misconceptions(
    results: Iterable[TaskResult], tests: CollectedTests, sandbox: Sandbox, assignment: Assignment
) -> Iterator[TaskResult]:
    """The failed tasks that look like a known fault's, with the finding; without a catalogue, the hint of home."""
    failed = [result for result in results if result.state in (State.FAILED, State.ERROR)]
    if not failed:
        return
    sandbox.budget.renew_time()  # so that the diagnosis does not depend on what else the machine does
    patterns, hints = read_patterns(assignment), read_hints(assignment.folder)
    known = [fault for fault in faults_of(assignment) if fault.id in patterns]
    for result in failed:
        if tests.exhausted_by:  # answers that keep the grader busy
            return
        number = result.task.number
        faults = [(fault, patterns[fault.id]) for fault in known if fault.task == number]
        if faults or number in hints:
            *_, outcomes = tests.run(sandbox, SEED, only=result.task.marker)
            seen = pattern_of(outcomes.get(result.task.marker, ()))
            finding, explains_all = name(faults, seen)
            if finding is None and (fits := fitting(hints.get(number, ()), seen)):
                finding = Finding("", (), "\n".join(f"Hint: {hint}" for hint in fits))
            if finding:
                missed = [outcome for outcome in result.outcomes if outcome.state is not State.PASSED]
                message = explain_by_one(missed, result.outcomes) if explains_all else result.message
                yield replace(result, finding=finding, message=message)


def name(known: Sequence[tuple[Fault, Pattern]], seen: Pattern) -> tuple[Finding | None, bool]:
    """The known faults of which the tests see the same, or nearly, if there are any; and True if it is all the same."""
    share, faults = closest(known, seen)
    if share < ENOUGH:
        return None, False
    first, *others = faults
    likeness = "Your code behaves exactly like" if share == 1 else "In nearly all tests your code behaves like"
    text = f"{likeness} code that {first.when}."
    if others:
        alike = "; ".join(f"code that {fault.when}" for fault in others[:3])
        more = f"; {len(others) - 3} more" if len(others) > 3 else ""
        text += f"\nThe tests cannot tell this from {alike}{more}."
    ids = tuple(fault.id for fault in others)
    return Finding(first.id, ids, f"{text}\nHint: {first.hint}"), share == 1


def explain_by_one(missed: Sequence[Outcome], outcomes: Sequence[Outcome]) -> str:
    """The message of tests that fail for a single known reason: that of the most telling failure."""
    first, total = most_telling(missed, outcomes), len(outcomes)
    if len(missed) == 1:
        return explain(missed, total, outcomes)
    which = "All" if len(missed) == total else f"{len(missed)} of"
    message = with_contrast(first, outcomes)
    return f"{which} {total} tests fail for this reason, {first.test} among them:\n{message}"
