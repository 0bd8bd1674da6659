"""A model that was handed in with its code: what is shown of it, and that nobody but the worker opens the file."""

import io
import pickle
import zipfile

import pytest
import torch

from autograder.assignment import learned_model
from autograder.grading.whole_model import show_learned
from autograder.intake import take_in
from autograder.sandbox.submission import Sandbox
from autograder.testing.results import State, TaskResult
from foundation.assignment_file import read_assignment
from given.config import Config
from given.run_folder import Checkpoint
from reference.model import Transformer
from reference.vocab import Vocabulary

from ..submissions import write_submission
from .conftest import SKELETON

ASSIGNMENT = read_assignment()
SENTENCE = ["le", "chat", "dort", "sur", "le", "tapis", "."]


class Evil:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('unpickled in the grader')",))


def checkpoint(path, **changes):
    """A checkpoint of a small untrained model."""
    torch.manual_seed(3)
    config = Config(d_model=8, n_heads=2, d_ff=12, n_layers=2)
    vocabs = Vocabulary(SENTENCE[:4] + ["tapis", "."]), Vocabulary(["the", "cat", "<b>"])
    model = Transformer(len(vocabs[0]), len(vocabs[1]), 8, 2, 12, 2)
    history = [{"epoch": n, "train_loss": 3.0 / n, "dev_bleu": 0.1 * n} for n in (1, 2, 3)]
    fields = {"weights": model.state_dict(), "diagonal": None, "history": history} | changes
    Checkpoint(config, *vocabs, epoch=3, optimizer={}, scheduler={}, rng_states={}, **fields).save(path)
    return path.read_bytes()


@pytest.fixture(autouse=True)
def development(tmp_path, monkeypatch):
    path = tmp_path / "dev.bpe"
    path.write_text("unbekannte wörter stehen hier in reihe .|||x\n" + " ".join(SENTENCE) + "|||the cat\n")
    monkeypatch.setattr(learned_model, "DEVELOPMENT", path)


@pytest.fixture
def sandbox(tmp_path, zygote):
    intake = take_in(write_submission(tmp_path / "anna"), SKELETON, ASSIGNMENT)
    with Sandbox(intake.sources, ASSIGNMENT, zygote=zygote) as sandbox:
        yield sandbox


def test_maps_and_curves_of_a_model(sandbox, tmp_path):
    learned = show_learned(sandbox, checkpoint(tmp_path / "best.pt"), ASSIGNMENT, [])
    assert learned.message == "" and [one.title for one in learned.maps] == ["head 1", "head 2"]
    for one in learned.maps:
        assert one.columns == tuple(SENTENCE) and len(one.rows) == len(one.weights)
        assert all(sum(row) == pytest.approx(1, abs=0.01) for row in one.weights)
    assert {curve.title: curve.points[-1] for curve in learned.curves} == {
        "training loss": (3.0, 1.0),
        "dev BLEU": (3.0, 0.3),
    }


def test_the_diagonal_mask_of_a_run_is_used(sandbox, tmp_path):
    plain = show_learned(sandbox, checkpoint(tmp_path / "best.pt"), ASSIGNMENT, [])
    masked = show_learned(sandbox, checkpoint(tmp_path / "b.pt", diagonal=torch.eye(20).bool()), ASSIGNMENT, [])
    assert masked.message == "" and masked.maps != plain.maps


def pickled() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a/data.pkl", pickle.dumps(Evil()))
        archive.writestr("a/version", "3")
    return buffer.getvalue()


@pytest.mark.parametrize("content", [b"", b"no checkpoint", pickle.dumps(Evil()), pickled()], ids=range(4))
def test_other_files_are_no_model(sandbox, content):
    learned = show_learned(sandbox, content, ASSIGNMENT, [])
    assert learned.message and learned.maps == () == learned.curves


def test_a_model_of_other_code_is_said_to_be_one(sandbox, tmp_path):
    content = checkpoint(tmp_path / "best.pt", weights={"strange": torch.ones(3)})
    assert "state_dict" in show_learned(sandbox, content, ASSIGNMENT, []).message


def test_parts_that_are_missing_come_first(sandbox, tmp_path):
    task = next(task for task in ASSIGNMENT.tasks if task.number == "1.2")
    results = [TaskResult(task, State.NOT_ATTEMPTED, 0.0, "")]
    learned = show_learned(sandbox, checkpoint(tmp_path / "best.pt"), ASSIGNMENT, results)
    assert learned.message.startswith("1.2 ") and learned.maps == ()


@pytest.mark.parametrize(
    "answer",
    [
        None,
        (SENTENCE, ["a"], torch.ones(2, 1, 3), []),
        (SENTENCE, ["a"], torch.full((2, 1, 7), torch.nan), []),
        (SENTENCE * 9, ["a"], torch.ones(2, 1, 63), []),
        (SENTENCE, [3], torch.ones(2, 1, 7), []),
        (SENTENCE, [], torch.ones(2, 0, 7), []),
    ],
)
def test_lies_of_a_worker_are_not_shown(answer):
    class Liar:
        def function(self, name, isolated):
            return name

        def apply(self, *arguments):
            return answer

    learned = show_learned(Liar(), b"x", ASSIGNMENT, [])
    assert learned.message and learned.maps == ()


def test_the_file_is_taken_in_beside_the_code(tmp_path):
    folder = write_submission(tmp_path / "anna")
    assert take_in(folder, SKELETON, ASSIGNMENT).checkpoint is None
    (folder / "best.pt").write_bytes(b"weights")
    intake = take_in(folder, SKELETON, ASSIGNMENT)
    assert intake.checkpoint == b"weights" and "best.pt" in intake.hashes
    (folder / "best.pt").write_bytes(bytes(31_000_000))
    intake = take_in(folder, SKELETON, ASSIGNMENT)
    assert intake.checkpoint is None and any("best.pt is not shown" in note for note in intake.notes)
