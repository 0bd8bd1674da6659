"""`sanity`: five quick checks of an untrained model, before it trains for long. `pack`: what is handed in, checked.

The five follow what people who train models check by hand (Karpathy 2019, "A recipe for training neural networks"): the
first predictions, whether one batch can be learned by heart, and which inputs reach which outputs. All of them run in
seconds, on a small model without dropout and a few sentences of the corpus.

Shapes: b sentences · t target positions · v target tokens.
"""

import argparse
import math
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch

from autograder.grading.scoring import read_references, read_translations
from autograder.intake.names import find_mentions, find_repeated
from autograder.intake.sources import RefusedError, Source, decode, names_in, parse
from autograder.intake.tree import LIMITS
from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.places import ANSWERS
from foundation.texts import first_of
from foundation.whole_files import in_one_piece

from .config import Config
from .decoding import SOURCES, TRANSLATIONS, forced_decode, predict
from .experiment import Experiment
from .package import MODULES, Batch, Package, Pair, Transformer

N_PAIRS = 8
N_STEPS = 60
LEARNED = 0.1  # of the first loss is left where a batch has been learned by heart
NEAR = 1.0  # nats between what a token costs at first and ln v
SAME = 1e-4  # differences of float32 log-probabilities up to here are rounding
SETTINGS = Config(d_model=64, n_heads=4, d_ff=128, dropout=0.0, learning_rate=2e-3, label_smoothing=0.0)

PYTHON = sys.version_info[:2]
SECTION = re.compile(r"^##.*\n+[^#\s]", re.MULTILINE)
"""A heading with an answer below it."""
BARE = re.compile(r"^## *(.*)\s*(?=^##|\Z)", re.MULTILINE)
"""A heading without one."""
BREAKPOINT = re.compile(r"\s*(import pdb; ?)?(breakpoint|pdb\.set_trace)\(")
LEFT = re.compile(r"raise NotImplementedError\(.TODO ([\w.]+)")


def sanity(options: argparse.Namespace) -> int:
    """Runs five quick checks of an untrained model, such as its first predictions and the effect of padding."""
    pairs = options.package.data.read_pairs(options.train)[:200]
    n_bad = 0
    for question, is_good, text in examine(options.package, pairs, options.norm_first, options.device):
        print(f"{'ok  ' if is_good else 'LOOK'}  {question}  {text}", flush=True)
        n_bad += not is_good
    return int(n_bad > 0)


def examine(package: Package, pairs: list[Pair], norm_first: bool, device: str) -> Iterator[tuple[str, bool, str]]:
    """Asks a fresh model of the package five questions, with the first few of the pairs as its one batch.

    Yields each question, whether the answer is as hoped for, and the answer.
    """
    run = Experiment(package, replace(SETTINGS, norm_first=norm_first), pairs, pairs, device)
    model, chosen, v = run.model, pairs[:N_PAIRS], len(run.tgt_vocab)
    batch = run.batch(chosen, device)

    uniform, cost = math.log(v), -predict(model, **vars(batch))[0].mean()
    text = f"a token costs {cost.item():.2f} on average; ln v = {uniform:.2f} for v = {v} equally likely tokens"
    yield "Are the first predictions a guess?", abs(cost.item() - uniform) < NEAR, text

    learned = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    of_learned = torch.autograd.grad(cost, [*learned.values()], allow_unused=True) if learned else ()
    gradients = dict.fromkeys(dict(model.named_parameters())) | dict(zip(learned, of_learned, strict=True))
    without = [name for name, gradient in gradients.items() if gradient is None or not gradient.norm() > 0]
    text = f"{len(gradients) - len(without)} of {len(gradients)} do{f'; not {first_of(without, 3)}' if without else ''}"
    yield "Does every parameter get a gradient?", not without, text

    earlier, later = measure_influence(model, batch, v)
    text = f"a later token changes a prediction by {later:.1g} at most, an earlier one by {earlier:.1g}"
    yield "Does no position see the future?", later < SAME < earlier, text

    place = min(range(N_PAIRS), key=lambda index: len(chosen[index][0]))
    beside, alone = (forced_decode(model, each)[0] for each in (batch, run.batch([chosen[place]], device)))
    padded = (beside[place, : alone.size(1)] - alone[0]).abs().max().item()
    text = f"the shortest sentence alone and beside longer ones: {padded:.1g} apart at most"
    yield "Does padding change nothing?", padded < SAME, text

    first, *_, last = (package.train.train_epoch([batch], model, run.optimizer, run.criterion) for _ in range(N_STEPS))
    text = f"loss {first:.2f} at first, and {last:.3f} at step {N_STEPS}"
    yield "Can it learn one batch by heart?", last < LEARNED * first, text


def measure_influence(model: Transformer, batch: Batch, v: int) -> tuple[float, float]:
    """Changes each target token of the first sentence in turn.

    Returns how far an earlier (or the same) token, and how far a later one, changes a prediction at most.
    """
    t = batch.tgt_input.size(1)
    first = replace(batch, **{name: value[:1].repeat_interleave(t + 1, 0) for name, value in vars(batch).items()})
    for place in range(t):
        first.tgt_input[place, place] = (first.tgt_input[place, place] + 1) % v
    *changed, intact = forced_decode(model, first)[0]
    moves = [(predictions - intact).abs().amax(-1).tolist() for predictions in changed]
    earlier = max(max(move[place:]) for place, move in enumerate(moves))
    return earlier, max(max(move[:place]) for place, move in enumerate(moves) if place)


def pack(options: argparse.Namespace) -> int:
    """Packs what you hand in, and checks what a grader will find in it."""
    folder = options.package.folder
    files = collect(folder)
    with in_one_piece(options.output) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in files.items():
            archive.writestr(f"{folder.name}/{name}", path.read_bytes())
    print(f"{options.output}: {len(files)} files, {options.output.stat().st_size / 1e3:,.0f} kB")
    for name, path in files.items():
        check_readable(f"{folder.name}/{name}", path.read_bytes())
    for note in notes(folder, files):
        print(f"note: {note}")
    for module in MODULES:
        getattr(options.package, module)  # what cannot be imported cannot be graded
    if TRANSLATIONS.name in files and SOURCES.is_file():
        read_translations(files[TRANSLATIONS.name], expected=len(read_references(SOURCES)))
    return 0


def collect(folder: Path) -> dict[str, Path]:
    """Returns the files to hand in, by their names below the package's folder."""
    names = {path: path.relative_to(folder) for path in sorted(folder.rglob("*.py"))}
    files = {name.as_posix(): path for path, name in names.items() if not re.search(r"(^|/)[._].*/", name.as_posix())}
    others = [(ANSWERS, folder), (TRANSLATIONS.name, folder.parent), (TRANSLATIONS.name, folder)]
    return files | {name: place / name for name, place in others if (place / name).is_file()}


def check_readable(name: str, content: bytes) -> None:
    """Raises: UserError for a file that graders would not read: too large, or a module that is not UTF-8 or Python."""
    most = next(most for end, most in LIMITS.items() if name.endswith(end))
    if len(content) > most:
        raise UserError(f"{name} has {len(content) / 1000:,.0f} kB; graders read at most {most / 1000:,.0f} kB")
    try:
        problem = parse(decode(content)) if name.endswith(".py") else None
    except RefusedError as error:
        raise UserError(f"{name}: {error}") from None
    if isinstance(problem, SyntaxError):
        raise UserError(f"{name}, line {problem.lineno or 1}: this is not Python: {problem.msg}")


def notes(folder: Path, files: dict[str, Path]) -> Iterator[str]:
    """Yields what is not finished or missing."""
    assignment = read_assignment()
    contract, graders, sources = assignment.contract.modules, assignment.python, dict[str, Source]()
    if graders < PYTHON:
        yield "your code is graded by Python {}.{}; what is new in {}.{} fails there".format(*graders, *PYTHON)
    for name, path in files.items():
        text = path.read_text(encoding="utf-8", errors="replace")
        components = contract.get(name.removesuffix(".py"), ())
        there = names_in(text)[0] if components else ()
        if lacking := [component for component in components if component not in there]:
            yield f"{folder.name}/{name} has no {first_of(lacking, 3)}"
        if name.endswith(".py"):
            yield from (f"not finished: {task} ({name})" for task in dict.fromkeys(LEFT.findall(text)))
            stops = [n for n, line in enumerate(text.splitlines(), start=1) if BREAKPOINT.match(line)]
            yield from (f"{folder.name}/{name}, line {n}: a breakpoint, which ends the task when graded" for n in stops)
            sources[name.removesuffix(".py").replace("/", ".")] = (f"{folder.name}/{name}", text)
        if name == ANSWERS:
            if "\ufffd" in text:
                yield f"{folder.name}/{ANSWERS} is not UTF-8, so graders see � in it: save it as UTF-8"
            is_written = SECTION.search(text) or ("##" not in text and text.strip())
            places = [f' below "{heading}"' for heading in BARE.findall(text)] if is_written else [""]
            yield from (f"nothing is written in {folder.name}/{ANSWERS}{place}" for place in places)
    judged = {module: source for module, source in sources.items() if module not in assignment.own_tests}
    for note in (*find_mentions(judged, assignment.contract.forbidden), *find_repeated(judged)):
        yield note.removeprefix("note: ")
    if TRANSLATIONS.name not in files:
        yield f"no {folder.name}/{TRANSLATIONS}: without it the tasks of BLEU earn nothing"
