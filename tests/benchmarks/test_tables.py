"""The report's tables from results that are there, and a verdict that follows the interval over seeds."""

import json
import re

import pytest

from benchmarks.__main__ import main
from benchmarks.tables import DEV, TRAIN, verdict


def test_the_reports_tables_are_made_of_finished_runs(tmp_path, capsys):
    for name, dev in (("defaults", 0.6), ("epochs-20", 0.7), ("n_heads-2", 0.5)):
        for seed in (0, 1):
            folder = tmp_path / "runs" / name / f"seed-{seed}"
            folder.mkdir(parents=True)
            result = {"dev": dev + seed / 50, "minutes": 2.0, "train": 0.8, "parameters": 12_345}
            (folder / "result.json").write_text(json.dumps({"files": [str(TRAIN), str(DEV), "None"], "result": result}))
    assert main(["tables", "--tables", "1", "2", "--only", "epochs", "heads", "--show", "--output", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    same = "12,345 | 2 | 0.800 ± 0.000"
    assert f"| 10 epochs | {same} | 0.610 ± 0.014 | 2.000 ± 0.000 | 0.43, 0.44 |" in lines, "the defaults"
    assert f"| 20 epochs | {same} | 0.710 ± 0.014 | 2.000 ± 0.000 | 0.52, 0.51 |" in lines
    assert "| 8 heads | – | not run | – | – | – | 0.47, 0.46 |" in lines and "### Table 2" in "\n".join(lines)
    assert (tmp_path / "tables.md").read_text().splitlines() == lines
    assert main(["tables", "--only", "no such column", "--show", "--output", str(tmp_path)]) == 2


@pytest.mark.slow
def test_a_small_table_is_trained(tmp_path, capsys):
    pairs = tmp_path / "pairs"
    pairs.write_text("".join(f"je mange {n} .|||i eat {n} .\n" for n in range(8)))
    files = [flag for name in ("train", "dev", "test") for flag in (f"--{name}", str(pairs))]
    only = ["--tables", "3", "--only", "small", "--seeds", "1", "--output", str(tmp_path)]
    assert main(["tables", *only, *files]) == 0
    head, _, plain, masked = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert head.endswith("| the report: train, dev, test |")
    number = r"\d\.\d{3}"
    for row, name in ((plain, "small, no mask"), (masked, "small, diagonal mask")):
        assert re.match(rf"\| {name} \| \d\d\d,\d\d\d \| 1 \|( {number} \|){{4}} 0\.\d\d, ", row), row


@pytest.mark.parametrize(
    ("differences", "interval", "words"),
    [
        ([0.01, 0.03], "-0.107 to +0.147", "no effect"),
        ([0.02, 0.02], "+0.020 to +0.020", "helps"),
        ([-0.02, -0.03, -0.04], "-0.055 to -0.005", "harms"),
        ([0.02], "–", "one seed"),
    ],
)
def test_the_verdict_follows_students_interval(differences, interval, words):
    """By hand: 0.02 ± 12.706 · 0.01414 / √2, and -0.03 ± 4.303 · 0.01 / √3."""
    shown, conclusion = verdict(differences)
    assert shown == interval and conclusion.startswith(words)
