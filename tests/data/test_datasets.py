"""Datasets of the library `datasets`: each kind of file, and a hub that does not answer."""

import socket
import time

import pytest

from data import parallel_text

from .conftest import PAIRS


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("kind", ["parquet", "arrow", "json", "csv"])
def test_a_dataset_of_each_kind_of_file_gives_its_splits(tmp_path, command, dataset, kind):
    import datasets

    rows = [{"de": de, "en": en} for de, en in PAIRS]
    rows = rows if kind == "csv" else [{"translation": row} for row in rows]
    parts = {"train": rows[:40], "validation": rows[40:52], "test": rows[52:]}
    splits, folder = (
        datasets.DatasetDict({name: datasets.Dataset.from_list(own) for name, own in parts.items()}),
        tmp_path / "x",
    )
    if kind == "arrow":
        splits.save_to_disk(folder)
    for name, table in splits.items() if kind != "arrow" else ():
        folder.mkdir(exist_ok=True)
        getattr(table, f"to_{kind}")(str(folder / f"{name}.{kind}"))
    words = ["--dataset", folder, "--languages", "de", "en", "--encoding", "words"]
    assert "40 train, 12 dev, 8 test" in command(*words)


@pytest.mark.slow
def test_a_hub_that_does_not_answer_is_one_line_after_four_seconds(command, dataset, monkeypatch):
    """From a server that takes a connection and says nothing."""
    assert parallel_text.HUB_SECONDS == 4
    monkeypatch.setattr(parallel_text, "HUB_SECONDS", 0.5)
    for place in ("datasets.config", "huggingface_hub.constants"):
        monkeypatch.setattr(f"{place}.HF_HUB_OFFLINE", False)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:{1}".format(*silent.getsockname()))
        start = time.monotonic()
        error = command("--dataset", "wmt14", "--config", "de-en", "--languages", "de", "en", status=2)
        assert "--dataset wmt14: it cannot be loaded: Couldn't reach" in error and time.monotonic() - start < 10
