"""The model as a drawing that says where each part lives: in which file, under which name, in which task.

Names and files are checked by `tests/project/test_pictures.py`; the tasks' numbers come from `assignment.toml`.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[2]
WIDTH, HEIGHT = 1000, 812
MONO = "ui-monospace, Menlo, Consolas, monospace"

# fill and edge of the boxes by file, light and dark
COLOURS = {
    "embedding.py": (("#fbe9f1", "#b0307a"), ("#3a2231", "#f08cc4")),
    "attention.py": (("#fdf0dc", "#b3630b"), ("#392a18", "#ffb45c")),
    "layers.py": (("#e3f0fd", "#1f6fb8"), ("#1b2d40", "#7fbef5")),
    "model.py": (("#e8f5e9", "#2e7d32"), ("#1d3221", "#83cf88")),
    "masks.py": (("#eeeef2", "#5b6072"), ("#2a2d38", "#b4b9ca")),
}
LIGHT = {"page": "#ffffff", "text": "#1f2330", "faint": "#565b6d"}
DARK = {"page": "#14161d", "text": "#eceff7", "faint": "#a9afc1"}


@dataclass(frozen=True)
class Part:
    """A box.

    Attributes:
        x, y, width, height: of its rectangle, in pixels.
        file: of the package, such as `layers.py`.
        name: a class, a function, or a method with its class, such as `Transformer.encode`.
        note: what it does there.
        is_frame: whether others stand in it; its words then stand at the top.
    """

    x: int
    y: int
    width: int
    height: int
    file: str
    name: str
    note: str = ""
    is_frame: bool = False

    @property
    def middle(self) -> int:
        """The x of its middle."""
        return self.x + self.width // 2


LEFT, RIGHT, ZOOM = 60, 406, 732  # the x of the three columns' boxes
WIDE, TALL = 250, 40


def column(x: int, bottom: int, rows: list[tuple[str, str, str]], step: int = 58) -> list[Part]:
    """Boxes above each other, from the bottom up: file, name, note."""
    return [Part(x, bottom - step * number, WIDE, TALL, *row) for number, row in enumerate(rows)]


EMBED = [("embedding.py", "InputEmbedding", ""), ("embedding.py", "PositionalEncoding", "given")]
SELF = ("attention.py", "MultiHeadedAttention", "self-attention")
NORM = ("layers.py", "LayerNorm", "add, normalise")
FEED = ("layers.py", "FeedForward", "")
CROSS = ("attention.py", "MultiHeadedAttention", "cross-attention")

ENCODER = column(LEFT, 560, [SELF, NORM, FEED, NORM])
DECODER = column(RIGHT, 560, [SELF, NORM, CROSS, NORM, FEED, NORM])
SOURCE, TARGET = column(LEFT, 710, EMBED), column(RIGHT, 710, EMBED)
PREDICTIONS = Part(RIGHT, 116, WIDE, TALL, "model.py", "Transformer.get_predictions", "given")
FRAMES = [
    Part(LEFT - 44, 304, WIDE + 66, 332, "model.py", "Encoder", is_frame=True),
    Part(RIGHT - 44, 188, WIDE + 66, 448, "model.py", "Decoder", is_frame=True),
    Part(LEFT - 34, 340, WIDE + 46, 274, "layers.py", "EncoderLayer", is_frame=True),
    Part(RIGHT - 34, 224, WIDE + 46, 390, "layers.py", "DecoderLayer", is_frame=True),
]
WHOLE = [
    Part(LEFT, 150, WIDE, TALL, "model.py", "Transformer.encode", "src to memory"),
    Part(LEFT, 200, WIDE, TALL, "model.py", "Transformer.decode", "to output"),
]
ATTEND = Part(ZOOM + 8, 402, 236, 60, "attention.py", "scaled_dot_product_attention")
INSIDE = [Part(ZOOM, 290, 252, 254, "attention.py", "MultiHeadedAttention", is_frame=True), ATTEND]
MASKS = [
    Part(ZOOM, 596, 252, TALL, "masks.py", "padding_mask", "hides padding"),
    Part(ZOOM, 650, 252, TALL, "masks.py", "causal_mask", "hides later tokens"),
    Part(ZOOM, 704, 252, TALL, "masks.py", "diagonal_mask", "hides distant tokens"),
]
AROUND = [
    ("data.py", "Batch", "pairs of sentences, padded, with masks"),
    ("train.py", "train_epoch", "predictions, loss, gradient, step"),
    ("decode.py", "greedy_decode", "token after token"),
    ("decode.py", "beam_decode", "several hypotheses"),
]

PARTS = [*FRAMES, *ENCODER, *DECODER, *SOURCE, *TARGET, PREDICTIONS, *WHOLE, *INSIDE, *MASKS]


def tasks() -> dict[str, str]:
    """The number of the first task for each component, by file and name: `layers.py LayerNorm`."""
    table = tomllib.loads((ROOT / "autograder/assignment/assignment.toml").read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for task in table["tasks"]:
        for component in task.get("components", ()):
            module, name = component.split(".")
            found.setdefault(f"{module}.py {name}", task["number"])
    return found


def draw() -> str:
    """The picture as SVG. It has its own background and follows the reader's colour scheme."""
    numbers = tasks()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'role="img" font-family="system-ui, Helvetica, Arial, sans-serif">',
        "<title>The Transformer: its parts, and the files and tasks in which they are</title>",
        f"<style>{style(0)} @media (prefers-color-scheme: dark) {{ {style(1)} }}</style>",
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path class="arrowhead" d="M0 0L10 5L0 10z"/></marker></defs>',
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="10"/>',
        *(box(part, numbers) for part in PARTS),
        *arrows(),
        *words(numbers),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def style(scheme: int) -> str:
    """The rules of one colour scheme: 0 light, 1 dark."""
    plain = (LIGHT, DARK)[scheme]
    rules = [f".page {{ fill: {plain['page']} }}", f".text {{ fill: {plain['text']} }}"]
    rules += [f".faint, .arrowhead {{ fill: {plain['faint']} }}"]
    rules += [f".arrow {{ fill: none; stroke: {plain['faint']}; stroke-width: 1.5 }}"]
    for file, schemes in COLOURS.items():
        fill, edge = schemes[scheme]
        kind = file.removesuffix(".py")
        rules.append(f".{kind} {{ fill: {fill}; stroke: {edge}; stroke-width: 1.4 }}")
        rules.append(f".{kind}-file {{ fill: {edge} }}")
    return " ".join(rules)


def box(part: Part, numbers: dict[str, str]) -> str:
    """A rectangle with a name, and its file, task and note below."""
    kind = part.file.removesuffix(".py")
    number = numbers.get(f"{part.file} {part.name.split('.')[0]}")
    is_given = part.note.startswith("given")
    below = " · ".join(filter(None, [f"task {number}" if number and not is_given else "", part.note]))
    frame = ' fill-opacity="0.35" stroke-dasharray="6 4"' if part.is_frame else ""
    rectangle = (
        f'<rect class="{kind}" x="{part.x}" y="{part.y}" width="{part.width}" height="{part.height}" rx="7"{frame}/>'
    )
    if part.is_frame:
        after = f" · task {number}" if part not in INSIDE else ""
        line = (
            f'<tspan class="text" font-family="{MONO}" font-weight="600">{part.name}</tspan><tspan '
            f'class="{kind}-file" font-family="{MONO}"> {part.file}</tspan><tspan class="faint">{escape(after)}</tspan>'
        )
        return f'{rectangle}<text x="{part.x + 10}" y="{part.y + 22}" font-size="12">{line}</text>'
    size = 12 if len(part.name) < 26 else 11
    return (
        f'{rectangle}<text class="text" x="{part.middle}" y="{part.y + 17}" font-size="{size}" font-weight="600" '
        f'text-anchor="middle" font-family="{MONO}">{escape(part.name)}</text>'
        f'<text x="{part.middle}" y="{part.y + 32}" font-size="10.5" text-anchor="middle">'
        f'<tspan class="{kind}-file" font-family="{MONO}">{part.file}</tspan>'
        f'<tspan class="faint">{escape(" · " + below if below else "")}</tspan></text>'
    )


def arrows() -> list[str]:
    """What flows where."""
    lines = []
    for chain in (SOURCE + ENCODER, TARGET + DECODER):
        for lower, upper in zip(chain, chain[1:], strict=False):
            lines.append(arrow(f"M{lower.middle} {lower.y - 2}V{upper.y + TALL + 2}"))
        lines.append(arrow(f"M{chain[0].middle} {chain[0].y + TALL + 26}V{chain[0].y + TALL + 3}"))
    lines.append(arrow(f"M{PREDICTIONS.middle} {PREDICTIONS.y - 2}V{PREDICTIONS.y - 22}"))
    out = DECODER[-1].x + WIDE - 16  # beside the names of the frames
    lines.append(arrow(f"M{out} {DECODER[-1].y - 2}V{PREDICTIONS.y + TALL + 2}"))
    for stack in (ENCODER, DECODER):
        for sublayer, norm in zip(stack[::2], stack[1::2], strict=True):  # residual connections
            side, below = sublayer.x - 16, sublayer.y + TALL + 9
            lines.append(arrow(f"M{sublayer.middle} {below}H{side}V{norm.y + TALL // 2}H{norm.x - 2}", dashed=True))
    top, cross = ENCODER[-1], DECODER[2]
    between = (LEFT + WIDE + 22 + RIGHT - 44) // 2
    lines.append(arrow(f"M{top.x + WIDE - 16} {top.y - 2}V286H{between}V{cross.y + TALL // 2}H{cross.x - 2}"))
    lines += [arrow(f"M{x} 524V512") for x in (ZOOM + 56, ATTEND.middle, ZOOM + 196)]
    below = ATTEND.y + ATTEND.height
    lines.append(arrow(f"M{ATTEND.middle} {below + 26}V{below + 3}"))
    lines.append(arrow(f"M{ATTEND.middle} {ATTEND.y - 2}V{ATTEND.y - 18}"))
    lines.append(arrow(f"M{ATTEND.middle} {ATTEND.y - 36}V{ATTEND.y - 46}"))
    lines.append(arrow(f"M{ATTEND.middle} {MASKS[0].y - 25}V547", dashed=True))
    return lines


def arrow(path: str, dashed: bool = False) -> str:
    """One arrow."""
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    return f'<path class="arrow" d="{path}" marker-end="url(#head)"{dashes}/>'


def text(x: int, y: int, line: str, kind: str = "faint", size: float = 12, anchor: str = "middle") -> str:
    """One line of plain words."""
    return f'<text class="{kind}" x="{x}" y="{y}" font-size="{size:g}" text-anchor="{anchor}">{escape(line)}</text>'


def words(numbers: dict[str, str]) -> list[str]:
    """What stands between the boxes."""
    lines = [
        '<text class="text" x="16" y="34" font-size="17" font-weight="600">The model, and where its parts are</text>',
        text(16, 58, "Dashed arrows are residual connections. With", anchor="start"),
        text(16, 75, "pre-norm (task E.2), LayerNorm comes before each", anchor="start"),
        text(16, 92, "sublayer, and once more after the last layer.", anchor="start"),
        text(LEFT, 138, "The class Transformer joins all parts", "text", anchor="start"),
        text(FRAMES[2].x + FRAMES[2].width, 630, "n_layers of these", anchor="end"),
        text(FRAMES[3].x + FRAMES[3].width, 630, "n_layers of these", anchor="end"),
        text(SOURCE[0].middle, 792, "src: ids of the source, (b, s)", "text"),
        text(TARGET[0].middle, 792, "tgt: ids of the target so far, (b, t)", "text"),
        text(PREDICTIONS.middle, PREDICTIONS.y - 28, "log-probabilities of the next token", "text"),
        text(LEFT + WIDE - 24, 280, "memory, (b, s, d)", "text", anchor="end"),
        text(ATTEND.middle, ATTEND.y + 50, "softmax(Q Kᵀ / √d_k) V", "text"),
        text(ATTEND.middle, 502, "project, and split into heads"),
        text(ZOOM + 56, 538, "query"), text(ATTEND.middle, 538, "key"), text(ZOOM + 196, 538, "value"),
        text(ATTEND.middle, ATTEND.y - 23, "concatenate, and project"),
        text(ATTEND.middle, ATTEND.y - 52, "output, and the weights of each head"),
        text(ZOOM, 280, "Inside", "text", anchor="start"),
        text(ZOOM, 586, "Masks: who may attend to whom", "text", anchor="start"),
        text(ZOOM, 58, "Around the model", "text", anchor="start"),
    ]  # fmt: skip
    for number, (file, name, note) in enumerate(AROUND):
        y = 84 + 42 * number
        task = numbers.get(f"{file} {name}")
        lines.append(
            f'<text x="{ZOOM}" y="{y}" font-size="12" font-family="{MONO}"><tspan class="text" font-weight="600">{name}'
            f'</tspan><tspan class="faint"> {file}{f" · task {task}" if task else ""}</tspan></text>'
            + text(ZOOM, y + 15, note, size=11.5, anchor="start")
        )
    return lines


if __name__ == "__main__":
    (Path(__file__).parent / "architecture.svg").write_text(draw(), encoding="utf-8")
