"""Fourth pass: every region becomes `raise NotImplementedError("TODO 1.3: …")`; all else stays as it is."""

from collections.abc import Sequence

from .regions import Region
from .source import Source

LINE_LENGTH = 110


def strip_regions(source: Source, regions: Sequence[Region]) -> str:
    """The text of the skeleton: hints stay, markers and solutions go."""
    parts: list[str] = []
    position = 0
    for region in sorted(regions, key=lambda region: region.begin):
        parts += source.lines[position : region.begin - 1]
        newline = "\r\n" if source.lines[region.begin - 1].endswith("\r\n") else "\n"
        has_newline = source.lines[region.end - 1].endswith("\n")
        raised = newline.join(raise_statement(region.message, region.indent))
        parts.append(raised + (newline if has_newline else ""))
        position = region.end
    parts += source.lines[position:]
    return "".join(parts)


def raise_statement(message: str, indent: str) -> list[str]:
    """The lines of the statement, the message broken between words where one line would be too long."""
    line = f"{indent}raise NotImplementedError({_quote(message)})"
    if len(line) <= LINE_LENGTH:
        return [line]
    inner = indent + ("\t" if indent.endswith("\t") else "    ")
    room = max(LINE_LENGTH - len(inner) - len('""'), 40)
    words = [word + " " for word in message.split(" ")]
    words[-1] = words[-1][:-1]
    pieces = [""]
    for word in words:
        if pieces[-1] and len(_quote(pieces[-1] + word)) - len('""') > room:
            pieces.append("")
        pieces[-1] += word
    return [f"{indent}raise NotImplementedError(", *(inner + _quote(piece) for piece in pieces), f"{indent})"]


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
