"""Draws the picture of the three flows, once in light and once in dark: `make pictures`.

A box names the folder or file that it stands for, and `tests/project/test_pictures.py` looks whether that exists.
"""

from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 1000, 546
BOX_WIDTH, BOX_HEIGHT = 168, 70

COLOURS = {
    "light": {"page": "#ffffff", "lane": "#f4f5fa", "box": "#ffffff", "edge": "#3f51b5", "text": "#1f2330",
              "faint": "#5b6072", "guarded": "#fdf1e3", "guard": "#b5651d"},
    "dark": {"page": "#14161d", "lane": "#1d2029", "box": "#262a36", "edge": "#8c9eff", "text": "#eceff7",
             "faint": "#a9afc1", "guarded": "#3a2d20", "guard": "#ffb46b"},
}  # fmt: skip


@dataclass(frozen=True)
class Box:
    """A place in the repository, or something that goes in or comes out.

    Attributes:
        x, y: of the upper left corner, in pixels.
        name: a path of the repository, or what it is called.
        lines: what happens there, one or two lines.
        guarded: whether submitted code runs there.
    """

    x: int
    y: int
    name: str
    lines: tuple[str, ...]
    guarded: bool = False

    @property
    def is_path(self) -> bool:
        """Whether the name is a path of the repository."""
        return "/" in self.name or self.name.endswith(".py")


RELEASE, SUBMISSION, TEXT = 50, 250, 450
COLUMNS = (24, 218, 412, 606, 808)

BOXES = {
    "reference": Box(COLUMNS[0], RELEASE, "reference/", ("the solution, with", "its TODOs marked")),
    "skeleton": Box(COLUMNS[1], RELEASE, "release/skeleton.py", ("takes the solutions", "out: student/")),
    "notebooks": Box(COLUMNS[2], RELEASE, "release/notebooks.py", ("joins code and prose:", "an nbgrader course")),
    "gates": Box(COLUMNS[3], RELEASE, "release/gates.py", ("no solution leaks, and", "all of it works")),
    "archives": Box(COLUMNS[4], RELEASE, "dist/*.zip", ("for students, grading", "server, instructors")),
    "submission": Box(COLUMNS[0], SUBMISSION, "a submission", ("folder, archive", "or notebook")),
    "intake": Box(COLUMNS[1], SUBMISSION, "autograder/intake/", ("reads it; unpacks", "and runs nothing")),
    "sandbox": Box(COLUMNS[2], SUBMISSION, "autograder/sandbox/", ("submitted code runs", "here, nowhere else"), True),
    "tests": Box(COLUMNS[3], SUBMISSION, "autograder/testing/", ("draws inputs, compares", "with PyTorch's own")),
    "marks": Box(COLUMNS[4], SUBMISSION, "autograder/reports/", ("points, diagnosis,", "class, gradebook")),
    "data": Box(COLUMNS[0], TEXT, "reference/data.py", ("pairs of sentences", "to batches and masks")),
    "model": Box(COLUMNS[1], TEXT, "reference/model.py", ("encoder, decoder:", "the Transformer")),
    "decode": Box(COLUMNS[2], TEXT, "reference/decode.py", ("greedy and", "beam search")),
    "scoring": Box(COLUMNS[3], TEXT, "autograder/scoring/", ("BLEU, and its", "95% interval")),
    "grade": Box(COLUMNS[4], TEXT, "grade.py", ("passed, failed", "or borderline")),
}

LANES = ((RELEASE, "Reference to release"), (SUBMISSION, "Submission to marks"), (TEXT, "Text to score"))

ARROWS = (
    ("reference", "skeleton"), ("skeleton", "notebooks"), ("notebooks", "gates"), ("gates", "archives"),
    ("submission", "intake"), ("intake", "sandbox"), ("sandbox", "tests"), ("tests", "marks"),
    ("data", "model"), ("model", "decode"), ("decode", "scoring"), ("scoring", "grade"),
)  # fmt: skip
ANSWERED = {("sandbox", "tests")}
"""Arrows with two heads: the tests ask, the sandbox answers."""


def draw(scheme: str) -> str:
    """The picture as SVG, in one of the two colour schemes."""
    colours = COLOURS[scheme]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'role="img" font-family="system-ui, Helvetica, Arial, sans-serif">',
        "<title>From the annotated solution to a release, from a submission to marks, from text to a score</title>",
        f'<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="{colours["edge"]}"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="{colours["page"]}"/>',
    ]
    parts += [_lane(top, title, colours) for top, title in LANES]
    parts += [_arrow(BOXES[start], BOXES[end], (start, end) in ANSWERED, colours) for start, end in ARROWS]
    parts += [_between_lanes(colours), *(_box(box, colours) for box in BOXES.values()), "</svg>"]
    return "\n".join(parts) + "\n"


def _lane(top: int, title: str, colours: dict[str, str]) -> str:
    return (
        f'<rect x="8" y="{top - 40}" width="{WIDTH - 16}" height="128" rx="8" fill="{colours["lane"]}"/>'
        f'<text x="{WIDTH - 24}" y="{top - 16}" font-size="15" font-weight="600" text-anchor="end" '
        f'fill="{colours["text"]}">{title}</text>'
    )


def _box(box: Box, colours: dict[str, str]) -> str:
    fill, edge = ("guarded", "guard") if box.guarded else ("box", "edge")
    dashes = "" if box.is_path or "zip" in box.name else ' stroke-dasharray="5 4"'
    family = ' font-family="ui-monospace, Menlo, Consolas, monospace"' if box.name != "a submission" else ""
    middle = box.x + BOX_WIDTH // 2
    captions = "".join(
        f'<text x="{middle}" y="{box.y + 42 + 16 * number}" font-size="12.5" text-anchor="middle" '
        f'fill="{colours["faint"]}">{escape(line)}</text>'
        for number, line in enumerate(box.lines)
    )
    return (
        f'<rect x="{box.x}" y="{box.y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="7" fill="{colours[fill]}" '
        f'stroke="{colours[edge]}" stroke-width="1.5"{dashes}/>'
        f'<text x="{middle}" y="{box.y + 22}" font-size="13" font-weight="600" text-anchor="middle"{family} '
        f'fill="{colours["text"]}">{escape(box.name)}</text>{captions}'
    )


def _arrow(start: Box, end: Box, both: bool, colours: dict[str, str]) -> str:
    heads = 'marker-end="url(#head)"' + (' marker-start="url(#head)"' if both else "")
    y = start.y + BOX_HEIGHT // 2
    return (
        f'<line x1="{start.x + BOX_WIDTH + 3}" y1="{y}" x2="{end.x - 3}" y2="{y}" stroke="{colours["edge"]}" '
        f'stroke-width="1.6" {heads}/>'
    )


def _between_lanes(colours: dict[str, str]) -> str:
    """What leads from one flow to the next: students, who work on what is handed out and hand it in."""
    right, left = BOXES["archives"], BOXES["submission"]
    x1, x2, y = right.x + BOX_WIDTH // 2, left.x + BOX_WIDTH // 2, (RELEASE + 88 + SUBMISSION - 40) // 2
    path = f"M{x1} {right.y + BOX_HEIGHT + 3}V{y}H{x2}V{left.y - 3}"
    validity = BOXES["tests"].x + BOX_WIDTH // 2
    below = BOXES["tests"].y + BOX_HEIGHT
    words = "students write the missing parts, test them with the same tests, train, translate"
    return (
        f'<path d="{path}" fill="none" stroke="{colours["edge"]}" stroke-width="1.6" marker-end="url(#head)"/>'
        f'<rect x="205" y="{y - 11}" width="590" height="22" fill="{colours["page"]}"/>'
        f'<text x="{WIDTH // 2}" y="{y + 5}" font-size="13.5" text-anchor="middle" fill="{colours["text"]}">'
        f"{words}</text>"
        f'<path d="M{validity} {below + 36}V{below + 3}" stroke="{colours["edge"]}" stroke-width="1.6" '
        f'stroke-dasharray="4 3" marker-end="url(#head)"/>'
        f'<text x="{validity}" y="{below + 52}" font-size="13" text-anchor="middle" fill="{colours["text"]}">'
        f'<tspan font-family="ui-monospace, Menlo, Consolas, monospace" font-weight="600">validity/</tspan>'
        f" proves the tests: every known fault, every correct variant</text>"
    )


def main() -> None:
    """Writes both pictures beside this file."""
    for scheme in COLOURS:
        path = Path(__file__).parent / f"flows-{scheme}.svg"
        path.write_text(draw(scheme), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
