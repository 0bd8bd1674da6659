"""Other layouts of the parameters behind the same computation.

The proof of the diagnosis rewrites faulty references into each of `LAYOUTS`: what they compute stays. `relayout.py`
moves the parameters of an object; it becomes a module of the rewritten sources.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from autograder.sources import Source, Sources

CLASSES = {
    "embedding": ("InputEmbedding",),
    "attention": ("MultiHeadedAttention",),
    "layers": ("LayerNorm", "FeedForward", "EncoderLayer", "DecoderLayer"),
    "model": ("Encoder", "Decoder"),
}
RELAYOUT = Path(__file__).with_name("relayout.py")


def with_layout(layout: str, sources: Sources) -> dict[str, Source]:
    """The sources with classes whose objects move their parameters."""
    made = {**sources, "relayout": (str(RELAYOUT), RELAYOUT.read_text(encoding="utf-8"))}
    for module, classes in CLASSES.items():
        path, text = made[module]
        calls = "".join(f"lay_out({name}, {layout!r})\n" for name in classes)
        made[module] = (path, f"{text}\n\nfrom .relayout import lay_out\n\n{calls}")
    return made


LAYOUTS: dict[str, Callable[[Sources], dict[str, Source]]] = {
    name: partial(with_layout, name) for name in ("fused", "per-head", "reversed")
}
