"""A student's folder of notebooks: checks of tasks, and the answers as a package."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from foundation.assignment_file import Task, read_assignment
from foundation.counting import as_threshold
from foundation.sources import Sources

from ...intake.modules import read_release
from ...scoring import ScoringError, read_references, read_translations
from .answers import AnswerPackage, assemble

TRANSLATIONS = "translations.txt"


class Course:
    """The assignment as seen from a notebook."""

    def __init__(self, folder: Path, support: Path, history: Callable[[], Sequence[str]] = lambda: ()) -> None:
        """Makes the package importable.

        Args:
            folder: with the notebooks.
            support: with the skeleton, in `skeleton/`, and the corpus, in `data/corpus/`.
            history: returns the cells that were run in this kernel so far, oldest first.
        """
        self.folder, self.support, self.history = folder, support, history
        self.assignment = read_assignment()
        self.skeleton = read_release(support / "skeleton", self.assignment.contract)
        self._answers: tuple[object, tuple[Sources, dict[str, list[str]], list[str]]] | None = None
        self._package = AnswerPackage(self.assignment.package, lambda: self.answers()[0])
        self._package.install()

    def answers(self) -> tuple[Sources, dict[str, list[str]], list[str]]:
        """All modules with the current answers, where their lines come from, and unreadable cells; see `assemble`.

        They are assembled again only after a change, since importing the package asks once per module.
        """
        state = list(self.history()), [(path, path.stat().st_mtime_ns) for path in sorted(self.folder.glob("*.ipynb"))]
        if self._answers is None or self._answers[0] != state:
            made = assemble(self.folder, self.history(), self.skeleton, self.assignment)
            self._answers = state, made
        return self._answers[1]

    def refresh(self) -> None:
        """Makes the next import of the package use the current answers."""
        self._package.forget()

    def check(self, number: str, seed: int | None = None) -> float:
        """Tests one task, prints the result, and draws a wrong one beside what was expected.

        Args:
            number: of the task, such as "1.2".
            seed: for the tests' random inputs; None = new ones.

        Returns:
            The points that it earns; nbgrader reads them below the cell.

        Raises:
            ValueError: for a number that no task has.
        """
        task = next((task for task in self.assignment.tasks if task.number == number), None)
        if task is None:
            known = ", ".join(task.number for task in self.assignment.tasks)
            raise ValueError(f"there is no task {number!r}; the tasks are {known}")
        if task.threshold is not None:
            print(self._about_translations(task, task.threshold))
            return 0.0
        from .checks import as_text, run_task  # pytest takes a moment to load

        sources, origins, unreadable = self.answers()

        def locate(module: str, line: int) -> str:
            lines = origins.get(module, [])
            return lines[line - 1] if 0 < line <= len(lines) else ""

        seed = random.SystemRandom().randrange(2**32) if seed is None else seed
        checked = run_task(task, sources, seed, self.assignment, locate)
        print("\n\n".join([as_text(checked), *unreadable]))
        if checked.picture is not None:
            show(checked.picture, f"What your code returned beside what was expected, in a test of task {number}")
        return checked.result.score

    def _about_translations(self, task: Task, threshold: str) -> str:
        """Tells whether the file can be scored; the references stay with the instructor."""
        head = f"{task.number} {task.title}: BLEU of at least {as_threshold(self.assignment.thresholds[threshold])}"
        path = self.folder / TRANSLATIONS
        if not path.is_file():
            return f"✗ {head}\n\n{TRANSLATIONS} does not exist yet: run the cell that writes it"
        source = self.support / "data" / "corpus" / "fren.test.src.bpe"
        notes: list[str] = []
        try:
            wanted = len(read_references(source, name=source.name))
            read_translations(path, expected=wanted, name=TRANSLATIONS, note=notes.append)
        except ScoringError as error:
            return f"✗ {head}\n\n{error}"
        told = "".join(f"\nnote: {note}" for note in notes)
        return (
            f"· {head}\n\n{TRANSLATIONS} has the expected {wanted} lines; it will be scored after you hand it in{told}"
        )


def show(picture: bytes, description: str) -> None:
    """Shows a PNG below the cell, where the code runs in a notebook."""
    try:
        from IPython import get_ipython
        from IPython.display import Image, display
    except ImportError:  # the tests of an installation without notebooks
        return
    if get_ipython() is not None:
        display(Image(picture, alt=description))  # type: ignore[no-untyped-call]  # IPython's
