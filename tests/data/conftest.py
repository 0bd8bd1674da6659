"""The command line, and a dataset in the form that WMT14 and OPUS Books have."""

import json

import pytest

from data import __main__ as command_line

PAIRS = [(f"Das Haus_{n % 7} hat {n} Türen ...", f"The house_{n % 7} has {n} doors ...") for n in range(60)]


def run(*arguments: object) -> int:
    """The exit status of a command; argparse's too."""
    try:
        return command_line.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)


@pytest.fixture
def command(tmp_path, capsys):
    """Runs `prepare` with --output out, or another: its standard output, or the error where it fails."""

    def command(*options, status=0):
        assert run("prepare", "--output", tmp_path / "out", *options) == status
        output, error = capsys.readouterr()
        assert not status or error.count("\n") == 1
        return error if status else output

    return command


@pytest.fixture
def dataset(tmp_path, monkeypatch):
    """Makes a dataset with the pairs in two languages."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")

    def make(name, *languages):
        (tmp_path / name).mkdir()
        rows = [{"id": str(n), "translation": dict(zip(languages, pair, strict=True))} for n, pair in enumerate(PAIRS)]
        (tmp_path / name / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
        return tmp_path / name

    return make
