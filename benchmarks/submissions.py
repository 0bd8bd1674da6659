"""Classes to grade: right, faulty, broken and hostile submissions.

A submission's name begins with its kind: `good-`, `faulty-`, `broken-` or `hostile-`.
"""

import io
import random
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from autograder.catalogue import apply, read_catalogue
from autograder.sources import Sources, read_sources
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, SKELETON
from tests.autograder.sandbox.snippets import read_attacks
from validity.variants import read_variants

VARIANTS = Path("proof", "variants")  # in the assignment's folder
SHARE_BROKEN = 1 / 3


def kind_of(name: str) -> str:
    """The kind of a submission, by its name."""
    return name.partition("-")[0]


def write(folder: Path, modules: Sources) -> None:
    """Writes a submission's files."""
    folder.mkdir(parents=True)
    for module, (_, text) in modules.items():
        if module != "__init__" and "." not in module:
            (folder / f"{module}.py").write_text(text, encoding="utf-8")


def good_or_faulty() -> Iterator[tuple[str, Sources]]:
    """The reference, its variants, and all faults of the catalogue."""
    reference, assignment = read_sources(REFERENCE, SKELETON), read_assignment()
    yield "good-reference", reference
    for variant in read_variants(assignment.folder / VARIANTS, reference, assignment.contract):
        yield f"good-{variant.name.replace('/', '-').replace(' ', '-')}", variant.sources
    for fault in read_catalogue():
        yield f"faulty-{fault.id}", apply(fault, reference)


def broken_or_hostile(reference: Sources) -> Iterator[tuple[str, Sources | bytes]]:
    """Common mistakes, and the hostile corpus in the place of LayerNorm's module."""
    layers = reference["layers"][1]
    texts = {
        "broken-syntax": layers.replace("class LayerNorm", "class LayerNorm(", 1),
        "broken-empty": "",
        "broken-unfinished": layers[: len(layers) // 2],
        "broken-import": f"import tensorflow\n{layers}",
        "broken-null": layers + "\0",
        "broken-prints": f"{layers}\nprint('x' * 1_000_000)\n",
    }
    texts |= {f"hostile-{attack.name}": attack.text for attack in read_attacks()}
    yield from ((name, {**reference, "layers": ("layers.py", text)}) for name, text in texts.items())
    yield "broken-archive", b"PK\x03\x04 no archive"
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("layers.py", b"#" * 100_000_000)
    yield "broken-bomb", bomb.getvalue()


def write_mixed_class(folder: Path, count: int, seed: int) -> Counter[str]:
    """Writes a class of which a third is broken or hostile, and the rest half good; returns the number of each kind."""
    chance = random.Random(seed)  # noqa: S311  a sample for a measurement
    n_broken = round(count * SHARE_BROKEN)
    first, *others = good_or_faulty()
    good, faulty = ([one for one in others if (kind_of(one[0]) == "good") == is_good] for is_good in (True, False))
    chosen = [first, *chance.sample(good, min(len(good), max(0, (count - n_broken) // 2 - 1)))]
    chosen += chance.sample(faulty, max(0, count - n_broken - len(chosen)))
    for name, modules in chosen:
        write(folder / name, modules)
    broken = list(broken_or_hostile(first[1]))
    chance.shuffle(broken)
    for number, (name, files) in enumerate(islice(cycle(broken), count - len(chosen))):
        target = folder / f"{name}-{number}"
        if isinstance(files, bytes):
            target.with_name(f"{target.name}.zip").write_bytes(files)
        else:
            write(target, files)
    return Counter(kind_of(path.name) for path in folder.iterdir())
