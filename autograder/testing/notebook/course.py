"""One student's folder of notebooks: checks of tasks, and the answers as a package."""

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from foundation.assignment_file import Task, read_assignment

from ...intake.modules import Sources, read_release
from .answers import assemble
from .package import AnswerPackage

TRANSLATIONS = "translations.txt"


class Course:
    """What a notebook needs of the assignment."""

    def __init__(self, folder: Path, support: Path, history: Callable[[], Sequence[str]] = lambda: ()) -> None:
        """Makes the package importable.

        Args:
            folder: with the notebooks.
            support: with the skeleton, in `skeleton/`, and the corpus, in `data/corpus/`.
            history: gives what was run in this kernel so far, oldest first.
        """
        self.folder, self.support, self.history = folder, support, history
        self.assignment = read_assignment()
        self.skeleton = read_release(support / "skeleton")
        self._answers: tuple[object, tuple[Sources, dict[str, list[str]]]] | None = None
        self._package = AnswerPackage(self.assignment.package, lambda: self.answers()[0])
        self._package.install()

    def answers(self) -> tuple[Sources, dict[str, list[str]]]:
        """All modules with the answers as they are now; see `assemble`. Assembled anew only after a change.

        One import of the package asks once for each of its modules.
        """
        state = list(self.history()), [(path, path.stat().st_mtime_ns) for path in sorted(self.folder.glob("*.ipynb"))]
        if self._answers is None or self._answers[0] != state:
            made = assemble(self.folder, self.history(), self.skeleton, self.assignment.package)
            self._answers = state, made
        return self._answers[1]

    def refresh(self) -> None:
        """Lets the next import of the package see answers that were changed after the last one."""
        self._package.forget()

    def check(self, number: str, seed: int | None = None) -> float:
        """Tests one task, and prints what came of it.

        Args:
            number: of the task, such as "1.2".
            seed: of the tests' random inputs; None = new ones.

        Returns:
            The points that it earns; nbgrader reads them below the cell.

        Raises:
            ValueError: for a number that is none.
        """
        task = next((task for task in self.assignment.tasks if task.number == number), None)
        if task is None:
            known = ", ".join(task.number for task in self.assignment.tasks)
            raise ValueError(f"there is no task {number!r}; the tasks are {known}")
        if task.threshold is not None:
            print(self._about_translations(task))
            return 0.0
        from .checks import as_text, run_task  # pytest takes a moment to load

        sources, origins = self.answers()
        modules = {path: name for name, (path, _) in sources.items() if name in origins}

        def locate(path: str, line: int) -> str:
            lines = origins.get(modules.get(path, ""), [])
            return lines[line - 1] if 0 < line <= len(lines) else ""

        seed = random.SystemRandom().randrange(2**32) if seed is None else seed
        result, printed = run_task(task, sources, seed, self.assignment.credit, locate)
        print(as_text(result, printed, seed))
        return result.score

    def _about_translations(self, task: Task) -> str:
        """Whether the file can be scored; the references stay with the instructor."""
        head = f"{task.number} {task.title}: BLEU of at least {self.assignment.thresholds[task.threshold]:.2f}"
        path = self.folder / TRANSLATIONS
        if not path.is_file():
            return f"✗ {head}\n\n{TRANSLATIONS} is not there yet: run the cell that writes it"
        wanted = _lines(self.support / "data" / "corpus" / "fren.test.src.bpe")
        found = _lines(path)
        if found != wanted:
            return f"✗ {head}\n\n{TRANSLATIONS} has {found} lines; expected {wanted}, one for each test sentence"
        return f"· {head}\n\n{TRANSLATIONS} has its {found} lines; it is scored once it is handed in"


def _lines(path: Path) -> int:
    text = path.read_text(encoding="utf-8", errors="replace")
    return len(re.findall(r"[^\n]*\n|[^\n]+$", text))
