"""Mistakes in the tables and settings: each is reported with its place and what would be right."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from data.generator.draw.chance import SETTINGS_FILE, SettingsError, read_settings
from data.generator.tables import LEXICON_FOLDER, LexiconError, read_lexicon


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the lexicon."""
    return Path(shutil.copytree(LEXICON_FOLDER, tmp_path / "lexicon"))


MISTAKES = [
    ("nouns.tsv", "truc\tx\tthing\tfood\t-", "gender is 'x', expected one of: m, f, m/f"),
    ("nouns.tsv", "truc\tm\tthing\tfoot\t-", "'foot' is no class of classes.toml"),
    ("nouns.tsv", "truc\tm\tthing\tfood", "4 cells, expected 5: french, gender, english, class, options"),
    ("nouns.tsv", "truc\tm\tthing\tfood\tmas", "unknown option 'mas' in options, expected: aspirated,"),
    ("nouns.tsv", "pain\tm\tbread\tfood\t-", "'pain' of class 'food' stands in line "),
    ("verbs.tsv", "transitive\toser\tdare\tstate\tpersons\tfood\t-\t-\t-\t-", "'persons' is no class or group"),
    ("verbs.tsv", "transitive\toser\tdare\tstate\tperson:m\tfood\t-\t-\t-\t-", "only an adjective can ask for a"),
    ("verbs.tsv", "transitive\toser\tdare\tstate\tperson\tfood\t-\tde\t-\t-", "prep is 'de', expected french:english"),
    ("adjectives.tsv", "grand\thuge\tkin\tbefore\tpredicate\ter\t-", "'grand' has another sense ('tall',)"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "line", "message"), MISTAKES)
def test_mistakes_have_file_and_line(folder: Path, table: str, line: str, message: str) -> None:
    """A wrong line at the end of a table."""
    path = folder / table
    number = len(path.read_text(encoding="utf-8").splitlines()) + 1
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(LexiconError) as problem:
        read_lexicon(folder)
    assert str(problem.value).startswith(f"{path}:{number}: ")
    assert message in str(problem.value)


def test_wrong_header(folder: Path) -> None:
    """Named with what is expected."""
    (folder / "adverbs.tsv").write_text("kind\tfrench\n")
    with pytest.raises(LexiconError, match=r"adverbs\.tsv:1: the header is .* expected"):
        read_lexicon(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("noun_slope", "noun_slop", "[zipf] has the unknown key 'noun_slop'; did you mean 'noun_slope'?"),
        ("dev = 971", "dev = 971.5", "[size] dev is 971.5, expected a whole number of at least 1"),
        ("dev = 971\n", "", "[size] lacks dev"),
        ("degree = 0.25", "degree = 1.25", "[phrase] degree is 1.25, expected a share between 0 and 1"),
        ("[size]", "[size", "settings.toml: "),
    ],
)
def test_mistakes_in_settings(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Named with the nearest valid key or the range."""
    path = tmp_path / "settings.toml"
    path.write_text(SETTINGS_FILE.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SettingsError) as problem:
        read_settings(path)
    assert message in str(problem.value)
