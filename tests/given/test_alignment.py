"""Word alignments from cross-attention, their error rate, and the command `align`."""

import json
import re

import pytest

from given.alignment import error_rates, join_links, read_alignments
from reference.__main__ import main
from reference.data import DataError

from .small import write_pairs

PAIRS = [(["le", "chat@@", "on", "dort"], ["the", "kit@@", "ten", "sleeps"]), (["il", "dort"], ["he", "sleeps"])]


def test_the_error_rate_by_hand():
    assert error_rates(found=3, gold=2, right=1) == {"aer": 1 - 2 / 5, "precision": round(1 / 3, 4), "recall": 1 / 2}
    assert error_rates(0, 0, 0)["aer"] == 1


def test_words_are_linked_if_any_of_their_pieces_are():
    assert join_links([(0, 0), (1, 2), (2, 1), (3, 3)], *PAIRS[0]) == {(0, 0), (1, 1), (2, 2)}


@pytest.mark.parametrize(
    "text, message",
    [
        ("0-0\n0-0\n0-0\n", "3 lines of links for 2 pairs"),
        ("0-0\n0:0\n", "links:2: '0:0': expected source-target, such as 3-4"),
        ("0-0\n2-0\n", "links:2: 2-0: this pair has 2 and 2 tokens"),
        ("0-4\n0-0\n", "links:1: 0-4: this pair has 4 and 4 tokens"),
    ],
)
def test_wrong_links_are_named(tmp_path, text, message):
    (tmp_path / "links").write_text(text)
    with pytest.raises(DataError, match=re.escape(message)):
        read_alignments(tmp_path / "links", PAIRS)


def test_the_command(tmp_path, capsys):
    files = ["--train", str(write_pairs(tmp_path / "pairs", PAIRS * 2)), "--dev", str(tmp_path / "pairs")]
    (tmp_path / "links").write_text("0-0 1-1 1-2 2-1 2-2 3-3\n0-0 1-1\n" * 2)
    sizes = ["--preset", "tiny", "--d-model", "16", "--n-layers", "2", "--output", str(tmp_path / "run")]
    assert main(["train", *files, *sizes]) == 0
    command = ["align", "--checkpoint", str(tmp_path / "run/best.pt"), "--pairs", str(tmp_path / "pairs")]
    command += ["--alignments", str(tmp_path / "links")]
    capsys.readouterr()
    figures = {}
    for step in ("write", "read"):
        assert main([*command, "--step", step, "--json"]) == 0
        figures[step] = json.loads(capsys.readouterr().out)["heads"]
        places = [(row["layer"], row["head"]) for row in figures[step]]
        assert places == [(layer, head) for layer in (1, 2) for head in (1, 2, 3, 4, "mean")]
        assert all(0 <= row[name] <= 1 for row in figures[step] for name in ("aer", "precision", "recall"))
    assert figures["write"] != figures["read"]
    assert main([*command, "--output", str(tmp_path / "a.png"), "--line", "2"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("layer  head") and printed.out.endswith("\n") and " *\n" in printed.out
    assert "line 2, layer" in printed.err and "line 2, layer" not in printed.out
    assert (tmp_path / "a.png").stat().st_size > 5000
    assert main([*command, "--output", str(tmp_path / "a.png"), "--line", "5"]) == 2
    assert "has 4 lines" in capsys.readouterr().err
