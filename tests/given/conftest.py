"""For tests that train: drawing the curves takes longer than training a small model, so few runs do it."""

from collections.abc import Iterator

import pytest

from given.run_folder import RunFolder

DRAW = RunFolder._draw_curves


@pytest.fixture(scope="module", autouse=True)
def _without_curves() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunFolder, "_draw_curves", lambda folder, history: None)
        yield


@pytest.fixture
def curves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs draw their curves."""
    monkeypatch.setattr(RunFolder, "_draw_curves", DRAW)
