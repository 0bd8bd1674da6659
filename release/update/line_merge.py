"""Three-way merge of sequences of lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True)
class Chunk:
    """A stretch of the result.

    Args:
        lines: of the result.
        is_conflict: both sides have changed the same lines, and not alike: these are the first side's.
    """

    lines: tuple[str, ...]
    is_conflict: bool = False


def merge(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[Chunk]:
    """What both sides have made of the base, in one; where they cannot both have their way, ours stays.

    Args:
        base: what both began with.
        ours: what must not be lost.
        theirs: the other side.
    """
    chunks = []
    done_base = done_ours = done_theirs = 0
    for start, ours_at, theirs_at, length in _common(base, ours, theirs):
        old = tuple(base[done_base:start])
        mine, other = tuple(ours[done_ours:ours_at]), tuple(theirs[done_theirs:theirs_at])
        if mine in (old, other):
            chunks.append(Chunk(other))
        else:
            chunks.append(Chunk(mine, is_conflict=other != old))
        chunks.append(Chunk(tuple(base[start : start + length])))
        done_base, done_ours, done_theirs = start + length, ours_at + length, theirs_at + length
    return [chunk for chunk in chunks if chunk.lines or chunk.is_conflict]


def _common(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """The stretches that all three share, in order: where they begin in each, and their length; last an empty one."""
    in_ours = _partners(base, ours)
    in_theirs = _partners(base, theirs)
    index = 0
    while index < len(base):
        a, b = in_ours.get(index), in_theirs.get(index)
        if a is None or b is None:
            index += 1
            continue
        length = 1
        while in_ours.get(index + length) == a + length and in_theirs.get(index + length) == b + length:
            length += 1
        yield index, a, b, length
        index += length
    yield len(base), len(ours), len(theirs), 0


def _partners(base: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """Index in the base -> index of the same line in the other sequence."""
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {block.a + shift: block.b + shift for block in blocks for shift in range(block.size)}
