"""`sanity`: the right model passes all questions, and each question notices its fault."""

import pytest
import torch

from reference import attention, layers, model, train
from reference.__main__ import main


@pytest.fixture
def ask(tmp_path, capsys):
    """Asks the reference, on the bundled corpus; returns the first word of each line and the exit status."""

    def run(*more):
        status = main(["sanity", "--output", str(tmp_path / "sanity.png"), *more])
        lines = [line.split("  ")[0].strip() for line in capsys.readouterr().out.splitlines()[:-1]]
        return lines, status

    return run


@pytest.mark.slow
@pytest.mark.parametrize("flags", [[], ["--norm-first"]], ids=["post-norm", "pre-norm"])
def test_the_reference_passes_and_is_drawn(ask, tmp_path, flags):
    assert ask(*flags) == (["ok"] * 5, 0)
    assert (tmp_path / "sanity.png").stat().st_size > 10_000


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


@pytest.fixture
def undrawn(monkeypatch):
    """The picture takes longer than the questions."""
    monkeypatch.setattr("given.pictures.save_figure", lambda figure, path: None)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed_by_its_question(ask, monkeypatch, fault):
    place, name, replacement, noticed = FAULTS[fault]
    monkeypatch.setattr(place, name, replacement)
    lines, status = ask()
    assert status == 1 and noticed == {number for number, line in enumerate(lines) if line == "LOOK"}


@pytest.mark.usefixtures("undrawn")
def test_without_train_epoch_the_other_questions_are_asked(ask, monkeypatch):
    def unwritten(*arguments, **named):
        raise NotImplementedError("TODO 3.1")

    monkeypatch.setattr(train, "train_epoch", unwritten)
    assert ask() == (["ok"] * 4, 0)
