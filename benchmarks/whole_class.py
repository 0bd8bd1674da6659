"""How long a class of 300 real submissions takes, and whether the memory of the command that grades it stays flat.

Two hundred are good or faulty: the reference, its variants, faults of the catalogue and conditional faults. One hundred
are broken or hostile: the hostile corpus of the sandbox's tests, and what students hand in by mistake. The command is
`grade-class` itself, below which CPU time and memory are measured once a second.
"""

import io
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psutil
from tqdm import tqdm

from autograder.classroom.records import RECORDS
from autograder.diagnosis.catalogue import apply, read_catalogue
from autograder.grading.record import Record, read_record
from autograder.testing.in_process import read_sources
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, ROOT, SKELETON
from foundation.sources import Sources
from tests.autograder.sandbox.snippets import read_attacks
from validity.proof.prove import CONDITIONAL
from validity.proof.reading_variants import read_variants

from .processes import asked, cpu_seconds, family

SHARE_BROKEN = 1 / 3
SLOWEST = 10
EARLY = 0.1
"""The share of the class after which memory is measured for the first time."""
EVERY_SECONDS = 1.0


@dataclass
class Costs:
    """What was measured.

    Attributes:
        wall: seconds.
        cpu: seconds of the command and of all below it, as far as the system tells.
        memory: resident MiB of the command, by the number of records stored.
        status: of the command.
        loads: of the machine, before and after.
    """

    wall: float = 0.0
    cpu: float = 0.0
    memory: dict[int, float] = field(default_factory=dict)
    status: int = 0
    loads: list[float] = field(default_factory=list)


def measure(count: int, jobs: int, seed: int, keep: Path | None = None) -> int:
    """Prints the figures.

    Args:
        count: submissions.
        jobs: graded at a time.
        seed: of the sample, and of the tests' inputs.
        keep: folder for the class and its marks; None = a temporary one.
    """
    with tempfile.TemporaryDirectory(prefix="class-") as name:
        place = keep or Path(name)
        kinds = write_class(place / "class", count, seed)
        costs = cost_of(place / "class", place / "marks", jobs, seed, count)
        records = {path.stem: read_record(path) for path in sorted((place / "marks" / RECORDS).glob("*.json"))}
    print(f"{count} submissions, {jobs} at a time: {', '.join(f'{n} {kind}' for kind, n in kinds.items())}")
    print(
        f"  {costs.wall:.0f} s of wall time, {costs.cpu:.0f} s of CPU; load {costs.loads[0]:.1f}, {costs.loads[1]:.1f}"
    )
    if costs.memory:
        numbers = sorted(costs.memory)
        early = next((n for n in numbers if n >= EARLY * count), numbers[-1])
        at = {early: costs.memory[early], numbers[-1]: costs.memory[numbers[-1]]}
        print("  memory of the command: " + ", ".join(f"{mib:.0f} MiB after {n}" for n, mib in at.items()))
    print(
        f"  exit status {costs.status}, {sum(one is not None and one.is_finished for one in records.values())} finished"
    )
    print(f"{'kind':<20}{'wall s each':>12}{'most':>8}")
    by_kind: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for stem, record in records.items():
        if record is not None:
            by_kind[kind_of(stem)].append((record.run.seconds, stem))
    for kind, found in sorted(by_kind.items()):
        print(f"{kind:<20}{sum(seconds for seconds, _ in found) / len(found):>12.2f}{max(found)[0]:>8.2f}")
    slowest = sorted((one for found in by_kind.values() for one in found), reverse=True)[:SLOWEST]
    print("slowest: " + ", ".join(f"{stem} {seconds:.0f} s" for seconds, stem in slowest))
    return int(len(records) != count or not all(is_graded(record) for record in records.values()))


def is_graded(record: Record | None) -> bool:
    """Whether nothing of a submission was left to the grader's own faults."""
    return record is not None and record.is_finished


def kind_of(name: str) -> str:
    """The kind of a submission, by its name."""
    return name.partition("-")[0]


def write_class(folder: Path, count: int, seed: int) -> Counter[str]:
    """Writes a class of submissions named KIND-NAME; how many there are of each kind."""
    chance = random.Random(seed)  # noqa: S311  a sample for a measurement
    n_broken = round(count * SHARE_BROKEN)
    sources = [*good_or_faulty()]
    first = sources[0]
    good, faulty = ([one for one in sources[1:] if (kind_of(one[0]) == "good") == is_good] for is_good in (True, False))
    chosen = [first, *chance.sample(good, min(len(good), max(0, (count - n_broken) // 2 - 1)))]
    chosen += chance.sample(faulty, max(0, count - n_broken - len(chosen)))
    for name, modules in chosen:
        write(folder / name, modules)
    broken = [*broken_or_hostile(first[1])]
    for number in range(count - len(chosen)):
        name, files = broken[number % len(broken)]
        again = number // len(broken)
        target = folder / (f"{name}-again{again}" if again else name)
        if isinstance(files, bytes):
            target.with_name(f"{target.name}.zip").write_bytes(files)
        else:
            write(target, files)
    return Counter(kind_of(path.name) for path in folder.iterdir())


def write(folder: Path, modules: Sources) -> None:
    """Writes a submission's files."""
    folder.mkdir(parents=True)
    for module, (_, text) in modules.items():
        if module != "__init__" and "." not in module:
            (folder / f"{module}.py").write_text(text, encoding="utf-8")


def good_or_faulty() -> Iterator[tuple[str, Sources]]:
    """The reference, its variants, faults and conditional faults."""
    reference, assignment = read_sources(REFERENCE, SKELETON), read_assignment()
    yield "good-reference", reference
    for variant in read_variants(assignment.folder / "proof" / "variants", reference, assignment.contract):
        yield f"good-{variant.name.replace('/', '-').replace(' ', '-')}", variant.sources
    for fault in read_catalogue():
        yield f"faulty-{fault.id}", apply(fault, reference)
    for fault in read_catalogue(assignment.folder / CONDITIONAL, assignment):
        yield f"sometimes-{fault.id}", apply(fault, reference)


def broken_or_hostile(reference: Sources) -> Iterator[tuple[str, Sources | bytes]]:
    """The hostile corpus, in the place of LayerNorm's module, and common mistakes."""
    layers = reference["layers"][1]
    mistakes: Mapping[str, str] = {
        "syntax": layers.replace("class LayerNorm", "class LayerNorm(", 1),
        "empty": "",
        "unfinished": layers[: len(layers) // 2],
        "import": f"import tensorflow\n{layers}",
        "null": layers + "\0",
        "prints": f"{layers}\nprint('x' * 1_000_000)\n",
    }
    for name, text in mistakes.items():
        yield f"broken-{name}", {**reference, "layers": ("layers.py", text)}
    yield "broken-archive", b"PK\x03\x04 no archive"
    yield "broken-bomb", bomb()
    nothing = dict.fromkeys(("SECRET_FILE", "FOLDER", "TARGET"), "/tmp/nothing")  # noqa: S108  never there
    for attack in read_attacks():
        yield f"hostile-{attack.name}", {**reference, "layers": ("layers.py", attack.aim(**nothing, PORT=1))}


def bomb() -> bytes:
    """An archive that unpacks to a hundred megabytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("layers.py", b"#" * 100_000_000)
    return content.getvalue()


def cost_of(folder: Path, output: Path, jobs: int, seed: int, count: int) -> Costs:
    """Grades a class with the command; what that takes."""
    costs = Costs(loads=[os.getloadavg()[0]])
    options = ["--output", str(output), "--seed", str(seed), "--jobs", str(jobs)]
    began = time.perf_counter()
    command = subprocess.Popen(  # noqa: S603  our own command
        [sys.executable, "-m", "autograder", "grade-class", str(folder), *options],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with tqdm(desc="class", unit="s", leave=False) as bar:
        while True:
            n_stored = stored(output)
            costs.cpu = max(costs.cpu, sum(asked(partial(cpu_seconds, one), 0.0) for one in family(command.pid)))
            if 0 < n_stored <= count:
                memory = asked(lambda: psutil.Process(command.pid).memory_info().rss, 0) / 2**20
                costs.memory.setdefault(n_stored, memory)  # later, the pages are written
            try:
                costs.status = command.wait(EVERY_SECONDS)
                break
            except subprocess.TimeoutExpired:
                bar.update()
    costs.wall = time.perf_counter() - began
    costs.loads.append(os.getloadavg()[0])
    return costs


def stored(output: Path) -> int:
    """How many results a class's database has; 0 where there is none yet."""
    if not (output / "class.db").is_file():
        return 0
    with closing(sqlite3.connect(f"file:{output / 'class.db'}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
        except sqlite3.OperationalError:
            return 0
