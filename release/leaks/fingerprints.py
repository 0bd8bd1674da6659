"""Code as token sequences, so that two pieces can be compared whatever their layout and names.

`lex` drops what reformatting changes: white space, line breaks, quotes, parentheses, semicolons, commas
before a closing bracket. It reads any text, even prose, JSON or a fragment, because a solution may survive
anywhere. An attribute is one token with its dot: `x.size(0)` is `x .size 0`.

Two comparisons are made with it:
    verbatim   the tokens of a statement as they are;
    renamed    windows of tokens in which every name that the reference itself chose is blank. What remains is
               structure, and names of Python and PyTorch that nobody can rename.
"""

import keyword
import re
import tokenize
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set

_TOKEN = re.compile(
    r"""
      (?<![\w'"])[rRbBuUfF]{1,2}(?=['"])               # prefix of a string: dropped
    | ,(?=\s*[)\]}])                                   # magic trailing comma: dropped
    | (?P<name>(?:\.\s*)?[^\W\d]\w*)                   # name, or attribute with its dot
    | (?P<number>\d[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?\d+)?)
    | (?P<sign>[^\s\w'"`\\();\#])
    """,
    re.VERBOSE,
)
_LINE_PREFIX = re.compile(r"^[ \t]*(?:(?:>>>|\.\.\.|\d+[:.)|]?|[#>|+*-]+)[ \t]+|#+)+", re.MULTILINE)
_LINE_COMMENT = re.compile(r"#[^\n]*")


def lex(text: str) -> list[str]:
    """The tokens of any text."""
    return [token for _, token in _scan(text)]


def lines_of_tokens(text: str) -> list[int]:
    """The line, from 1, of each token that `lex` finds."""
    lines, line, position = [], 1, 0
    for start, _ in _scan(text):
        line += text.count("\n", position, start)
        position = start
        lines.append(line)
    return lines


def _scan(text: str) -> Iterator[tuple[int, str]]:
    if not text.isascii():
        # Character by character, so that positions (and with them line numbers) stay right.
        text = "".join(folded if len(folded := unicodedata.normalize("NFKC", c)) == 1 else c for c in text)
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "number":
            yield match.start(), _same_number(match["number"])
        elif kind == "name":
            name = match["name"]
            yield match.start(), "." + name[1:].lstrip() if name[0] == "." else name
        elif kind:
            yield match.start(), match[0]


def _same_number(written: str) -> str:
    try:
        return f"{float(written):g}"
    except (ValueError, OverflowError):
        return written


def views(text: str, tokens: Sequence[tokenize.TokenInfo] | None = None) -> list[str]:
    """The ways in which a text may hold code; line numbers agree with the text in each.

    Args:
        text: of any file.
        tokens: as `tokenize` gives them where the text is Python: then only true comments count as comments.

    Returns:
        The text without comments, the text with them, and the text with line prefixes (`#`, `>>>`, `+`,
        `12:`) taken off before comments are.
    """
    if tokens is None:
        code = _LINE_COMMENT.sub("", text)
    else:
        lines = text.split("\n")
        for token in tokens:
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column]
        code = "\n".join(lines)
    bare = _LINE_COMMENT.sub("", _LINE_PREFIX.sub("", text))
    return list(dict.fromkeys((code, text, bare)))


def blank_names(tokens: Sequence[str], fixed: Set[str]) -> list[str]:
    """The tokens with every name blank that is neither a keyword nor in `fixed`."""
    blanked = []
    for token in tokens:
        is_own = is_name(token) and token not in fixed and not keyword.iskeyword(token)
        blanked.append(("._" if token[0] == "." else "_") if is_own else token)
    return blanked


def agreement(ours: Sequence[str], theirs: Sequence[str], fixed: Set[str]) -> float:
    """How consistently the free names of one sequence stand for those of the other: 1 = a plain renaming."""
    pairs = [
        (a, b) for a, b in zip(ours, theirs, strict=True) if is_name(a) and a not in fixed and not keyword.iskeyword(a)
    ]
    if not pairs:
        return 1.0
    return min(_consistency(pairs), _consistency([(b, a) for a, b in pairs]))


def _consistency(pairs: Sequence[tuple[str, str]]) -> float:
    partners: dict[str, Counter[str]] = defaultdict(Counter)
    for a, b in pairs:
        partners[a][b] += 1
    return sum(max(counter.values()) for counter in partners.values()) / len(pairs)


def is_name(token: str) -> bool:
    """Whether a token is a name, or an attribute with its dot."""
    return token.lstrip(".").isidentifier()
