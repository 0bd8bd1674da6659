"""Cuts what a notebook's cells have printed and drawn out of its JSON before that is parsed.

Outputs are most of a large notebook, and nothing in them is graded. Strings are skipped in one step each, so pictures
of many megabytes cost next to nothing.
"""

import re

from ..errors import RefusedError

SKIPPED = (b'"outputs"', b'"attachments"', b'"widgets"')
"""Keys whose values are cut out, wherever they stand: a cell's output, pasted pictures, the state of widgets."""
LONGEST = max(map(len, SKIPPED))
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
"""How deep a bracket leads."""
MAX_TOKENS = 3_000_000
"""Strings and brackets in all; a notebook of 100 MB with ordinary tables and pictures has a tenth of that."""
TOO_MANY = f"a notebook of more than {MAX_TOKENS:,} values; clear its output and save it again"
TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
"""A string, also one that nothing ends: else each of its quotation marks would be tried as a beginning."""
COLON = re.compile(rb"[ \t\r\n]*:[ \t\r\n]*")


def without_outputs(content: bytes) -> bytes:
    """The JSON with `null` in the place of each skipped value, in the same lines; what is no JSON stays so.

    Raises:
        RefusedError: for too many values.
    """
    kept: list[bytes] = []
    copied, position, n_tokens = 0, 0, 0
    while token := TOKEN.search(content, position):
        n_tokens += 1
        if n_tokens >= MAX_TOKENS:
            raise RefusedError(TOO_MANY)
        position = token.end()
        is_short = position - token.start() <= LONGEST  # what is long is not copied
        if not is_short or token[0] not in SKIPPED or not (colon := COLON.match(content, position)):
            continue
        start = colon.end()
        position, more = end_of_value(content, start, MAX_TOKENS - n_tokens)
        n_tokens += more
        if position > start:
            lines = b"\n" * content.count(b"\n", start, position)  # so that errors name the right line
            kept += [content[copied:start], b"null", lines]
            copied = position
        if n_tokens >= MAX_TOKENS:
            raise RefusedError(TOO_MANY)
    return b"".join([*kept, content[copied:]]) if kept else content


def end_of_value(content: bytes, start: int, most: int) -> tuple[int, int]:
    """Where the list, object or string ends that begins at a position, and how many tokens it has.

    Anything else ends where it begins. Looks at `most` tokens and no more.
    """
    depth, position = 0, start
    for count in range(1, most + 1):
        token = TOKEN.match(content, start) if count == 1 else TOKEN.search(content, position)
        if token is None:
            return (start if count == 1 else len(content)), count
        position = token.end()
        depth += STEPS.get(content[token.start()], 0)
        if depth <= 0:
            return position, count
    return position, most
