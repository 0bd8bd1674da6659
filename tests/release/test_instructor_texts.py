"""The texts that an instructor writes: mistakes in them are named by file and line."""

import pytest

from release.__main__ import main
from release.instructor_texts import fill_in, read_text
from release.problems import ReleaseError

WORDS = {"title": "Transformer", "due": ""}


def test_words_take_the_place_of_their_names():
    assert fill_in("$title ${title}s$due: 5 $$\n", "a.md", WORDS) == "Transformer Transformers: 5 $\n"


def test_each_dollar_that_stands_for_nothing_is_named():
    with pytest.raises(ReleaseError) as caught:
        fill_in("$title\nit costs $5\n$nothing and ${due}\n", "a.md", WORDS)
    assert str(caught.value).split("\n") == [
        "a.md:2: a $ stands alone; write $$ for a dollar sign, or one of $due, $title",
        "a.md:3: $nothing stands for nothing; write $$ for a dollar sign, or one of $due, $title",
    ]


def test_a_text_that_is_not_utf_8_is_named_by_its_line(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"one\r\n" + "é".encode("latin-1"))
    with pytest.raises(ReleaseError, match=r"^prose/a.md:2: is not UTF-8 \(.*\); save it as UTF-8$"):
        read_text(path, "prose/a.md")
    with pytest.raises(ReleaseError, match="b.md: cannot be read .No such file"):
        read_text(tmp_path / "b.md", "b.md")


@pytest.mark.parametrize("command", ["build", "check"])
@pytest.mark.parametrize("damage", [b"it costs $5\n", "é".encode("latin-1")])
def test_a_damaged_handout_is_one_line(command, damage, project, capsys):
    path = project.root / "autograder" / "assignment" / "handout.md"
    path.write_bytes(path.read_bytes() + damage)
    assert main([command, "--root", str(project.root)]) == 2
    first, *rest = capsys.readouterr().err.splitlines()
    assert first.startswith("handout.md:") and rest == ["release: stopped; nothing was written"]
