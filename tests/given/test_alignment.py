"""Word alignments from cross-attention, their error rate, and the command `align`."""

from given.alignment import Row, join_links
from reference.__main__ import main

from .small import write_pairs

PAIRS = [(["le", "chat@@", "on", "dort"], ["the", "kit@@", "ten", "sleeps"]), (["il", "dort"], ["he", "sleeps"])]


def test_the_error_rate_by_hand():
    assert Row(1, 1, found=3, gold=2, right=1).aer == 1 - 2 / 5
    assert Row(1, 1, found=0, gold=0, right=0).aer == 1


def test_words_are_linked_if_any_of_their_pieces_are():
    assert join_links([(0, 0), (1, 2), (2, 1), (3, 3)], *PAIRS[0]) == {(0, 0), (1, 1), (2, 2)}


def test_the_command(tmp_path, capsys):
    files = ["--train", str(write_pairs(tmp_path / "pairs", PAIRS * 2)), "--dev", str(tmp_path / "pairs")]
    (tmp_path / "links").write_text("0-0 1-1 1-2 2-1 2-2 3-3\n0-0 1-1\n" * 2)
    sizes = ["--preset", "tiny", "--d-model", "16", "--n-layers", "2", "--output", str(tmp_path / "run")]
    assert main(["train", *files, *sizes]) == 0
    command = ["align", "--checkpoint", str(tmp_path / "run/best.pt"), "--pairs", str(tmp_path / "pairs")]
    command += ["--alignments", str(tmp_path / "links")]
    capsys.readouterr()
    tables = []
    for step in ("write", "read"):
        assert main([*command, "--step", step]) == 0
        head, *rows = (line.split() for line in capsys.readouterr().out.splitlines())
        assert head == ["layer", "head", "AER", "precision", "recall"]
        assert [row[:2] for row in rows] == [[layer, head] for layer in "12" for head in ("1", "2", "3", "4", "mean")]
        assert [row[2] for row in rows if row[-1] == "*"] == [min(row[2] for row in rows)]
        tables.append(rows)
    assert tables[0] != tables[1]
    assert main([*command, "--output", str(tmp_path / "a.png"), "--line", "2"]) == 0
    assert "\nline 2, layer" in capsys.readouterr().out and (tmp_path / "a.png").stat().st_size > 5000
    assert main([*command, "--line", "5"]) == 2 and "--line 5" in capsys.readouterr().err
    (tmp_path / "links").write_text("0:0\n")
    assert main(command) == 2 and "links:1: expected links source-target" in capsys.readouterr().err
