"""Writes the figures of figures.toml into the pages that quote them; a test fails where a page has another number."""

import re
import tomllib
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = "docs/reference/figures.md"
CONTENT = tomllib.loads((ROOT / "docs" / "figures.toml").read_text(encoding="utf-8"))
QUOTES: dict[str, list[str]] = CONTENT["quotes"]
NUMBERS: dict[str, str] = {name: text for row in CONTENT["figure"] for name, text in row.get("numbers", {}).items()}
NAME, DIGITS = re.compile(r"\{(\w+)\}"), re.compile(r"\d+(?:[.,]\d+)*")


def filled(text: str) -> str:
    """A sentence with its numbers in place of their names."""
    return NAME.sub(lambda name: NUMBERS[name[1]], text)


def pattern_of(quote: str) -> str:
    """Matches a sentence with these numbers or others, which are its groups; lines may be broken anywhere."""
    texts = NAME.split(quote)
    for index in range(1, len(texts), 2):
        around = map(re.escape, DIGITS.split(NUMBERS[texts[index]]))
        texts[index] = f"({DIGITS.pattern.join(around)})"
    texts[::2] = map(re.escape, texts[::2])
    return re.sub(r"(?:\\ )+", r"\\s+", "".join(texts))


def corrected(name: str, text: str) -> str:
    """A page as it should be: every sentence that quotes a number, and the rows of the page of figures."""
    for quote in (quote for quotes in QUOTES.values() for quote in quotes):
        names = NAME.findall(quote)
        for match in reversed([*re.finditer(pattern_of(quote), text)]):
            for index in reversed(range(len(names))):
                start, end = match.span(index + 1)
                text = f"{text[:start]}{NUMBERS[names[index]]}{text[end:]}"
    for section, rows in groupby(CONTENT["figure"], lambda row: str(row["section"])) if name == PAGE else ():
        lines = "".join(f"| {filled(row['question'])} | {filled(row['figure'])} | {row['command']} |\n" for row in rows)
        head, body = re.split(rf"(?<=## {section}\n\n)", text)
        title, rest = re.split(r"(?<=---\|\n)(?:\|.*\n)*", body, maxsplit=1)
        text = f"{head}{title}{lines}{rest}"
    return text


if __name__ == "__main__":
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        before = path.read_text(encoding="utf-8")
        if (after := corrected(path.relative_to(ROOT).as_posix(), before)) != before:
            path.write_text(after, encoding="utf-8")
            print(f"corrected {path.relative_to(ROOT)}")
