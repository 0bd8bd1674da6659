"""`sanity`: the right model passes all questions, and each notices its fault; `pack`: what the archive holds."""

import sys
import zipfile

import pytest
import torch

from foundation.places import REFERENCE, SKELETON
from given import checks
from given.command_line import main
from reference import attention, layers, model, train
from reference.__main__ import main as reference


@pytest.fixture
def ask(capsys):
    """Asks the reference, on the bundled corpus; returns the first word of each answer and the exit status."""

    def run(*more):
        status = reference(["sanity", *more])
        return [line.split()[0] for line in capsys.readouterr().out.splitlines()], status

    return run


@pytest.mark.slow
@pytest.mark.parametrize("flags", [[], ["--norm-first"]], ids=["post-norm", "pre-norm"])
def test_the_reference_passes(ask, flags):
    assert ask(*flags) == (["ok"] * 5, 0)


def confident(self, output):
    return (20 * self.output_projection(output)).log_softmax(-1)


def detached(self, x):
    return self.contract(torch.relu(self.expand(x)).detach())


def without_mask(query, key, value, mask=None):
    weights = (query @ key.mT / query.size(-1) ** 0.5).softmax(-1)
    return weights @ value, weights


FAULTS = {  # what takes the place of what, and the numbers of the questions that notice
    "too confident": (model.Transformer, "get_predictions", confident, {0}),
    "detached": (layers.FeedForward, "forward", detached, {1}),
    "no mask": (attention, "scaled_dot_product_attention", without_mask, {2, 3}),
    "weights that stay": (torch.optim.Adam, "step", lambda self: None, {4}),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed_by_its_question(ask, monkeypatch, fault):
    place, name, replacement, noticed = FAULTS[fault]
    monkeypatch.setattr(place, name, replacement)
    lines, status = ask()
    assert status == 1 and noticed == {number for number, line in enumerate(lines) if line == "LOOK"}


def test_without_train_epoch_the_other_questions_are_answered(ask, monkeypatch):
    def unwritten(*arguments, **named):
        raise NotImplementedError("TODO 3.1")

    monkeypatch.setattr(train, "train_epoch", unwritten)
    assert ask() == (["ok"] * 4, 0)


N_LINES = 3


@pytest.fixture
def pack(tmp_path, monkeypatch, capsys):
    """Packs a copy of the reference, after it was changed; returns status, output, errors and names in the archive."""
    folder = tmp_path / "packed"
    folder.mkdir()
    for path in REFERENCE.glob("*.py"):
        (folder / path.name).write_bytes(path.read_bytes())
    (tmp_path / checks.SOURCES).parent.mkdir(parents=True)
    (tmp_path / checks.SOURCES).write_text("je suis ici .\n" * N_LINES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def run(files, *more):
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        __import__("packed")
        status = main("packed", ["pack", *more])
        printed = capsys.readouterr()
        with zipfile.ZipFile("submission.zip") as archive:
            return status, printed.out, printed.err, set(archive.namelist())

    yield run
    for name in [name for name in sys.modules if name.partition(".")[0] == "packed"]:
        del sys.modules[name]


def test_helpers_and_translations_are_packed_and_what_is_unfinished_is_a_note(pack):
    files = {"more/mine.py": "x = 1\n", "translations.txt": "i am here .\n" * (N_LINES - 1) + "\n\n"}
    files["answers.md"] = "## What I measured\n\nBLEU fell.\n"
    status, out, err, names = pack(files | {".ipynb_checkpoints/layers.py": "", "notes.md": ""})
    assert (status, err) == (0, "") and "note" not in out
    wanted = {path.name for path in REFERENCE.glob("*.py")} | files.keys()
    assert names == {f"packed/{name}" for name in wanted}
    (checks.TRANSLATIONS.resolve().parent / "packed/translations.txt").unlink()
    unfinished = 'def f():\n    raise NotImplementedError("TODO 2.3")\n'
    status, out, _, _ = pack({"more.py": unfinished, "answers.md": (SKELETON / "answers.md").read_text()})
    assert status == 0 and "note: nothing is written in packed/answers.md" in out
    assert "note: not finished: 2.3 (more.py)\n" in out and "no packed/translations.txt" in out


PROBLEMS = {
    "packed/layers.py, line 2: this is not Python: ": {"layers.py": "x = 1\ndef f(:\n"},
    "packed/nowhere.py is missing\n": {"layers.py": "from .nowhere import x\n"},
    "packed/layers.py: it is not UTF-8 text; save it as UTF-8\n": {"layers.py": "x = 1\n\0"},
    "packed/layers.py is imported by a file that it imports itself": {
        "layers.py": "from .embedding import InputEmbedding\n\nx = 1\n",
        "embedding.py": "from .layers import x\n\nInputEmbedding = 1\n",
    },
    "No module named 'attention'; write `from .attention import …`": {"layers.py": "from attention import x\n"},
    "packed/layers.py, line 1: ZeroDivisionError: division by zero\n": {"layers.py": "1 / 0\n"},
    "translations.txt: 2 lines, but there are 3 references": {"translations.txt": "a\nb\n"},
}


@pytest.mark.parametrize("message", PROBLEMS)
def test_what_cannot_be_graded_is_a_problem(pack, message):
    status, _, err, _ = pack(PROBLEMS[message])
    assert status == 1 and err.startswith("packed: ") and message in err and err.count("\n") <= 2
