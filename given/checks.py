"""`sanity`: five quick checks of an untrained model, before it trains for long. `pack`: what is handed in, checked.

The five follow what people who train models check by hand (Karpathy 2019, "A recipe for training neural networks"): the
loss at the start, whether one batch can be learned by heart, and which inputs reach which outputs. All of them run in
seconds, on a small model without dropout and a few sentences of the corpus.

Shapes: b sentences · t target positions · v target tokens.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from foundation.places import ANSWERS
from foundation.texts import first_of
from foundation.whole_files import in_one_piece

from .config import Config
from .decoding import SOURCES, TRANSLATIONS, forced_decode, predict
from .drawing import check_format
from .package import MODULES, BrokenModuleError, Package, Setup, make_optimizer, make_scheduler
from .training import FILES

if TYPE_CHECKING:
    from .package import Batch, Pair, Transformer

N_PAIRS = 8
N_STEPS = 60
LEARNED = 0.1  # of the first loss is left where a batch has been learned by heart
NEAR = 1.0  # nats between the first loss and ln v
SAME = 1e-4  # differences of float32 log-probabilities up to here are rounding
SETTINGS = Config(d_model=64, n_heads=4, d_ff=128, dropout=0.0, learning_rate=2e-3, batch_size=N_PAIRS)

MOST_BYTES = {".py": 100_000, ".md": 20_000, ".txt": 10_000_000}  # what a grader reads
SECTION = re.compile(r"^##.*\n+[^#\s]", re.MULTILINE)
"""A heading with an answer below it."""
LEFT = re.compile(r"raise NotImplementedError\(.TODO ([\w.]+)")


def add_sanity_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    text = f"`source|||target` lines, of which the first {N_PAIRS} serve (default: {FILES['train']})"
    parser.add_argument("--train", type=Path, default=FILES["train"], help=text)
    parser.add_argument("--norm-first", action="store_true", help="check the pre-norm model (task E.2)")
    text = "file for the picture (default: sanity.png); its suffix, .png, .svg or .pdf, decides on the format"
    parser.add_argument("--output", type=Path, default=Path("sanity.png"), help=text)


def sanity(options: argparse.Namespace) -> int:
    """Asks all questions, prints the answers and draws the picture; returns 1 if an answer is not as hoped for."""
    check_format(options.output)
    from .pictures import plot_sanity, save_figure

    pairs = options.package.data.read_pairs(options.train)[:200]
    answers, pictured = examine(options.package, pairs, options.norm_first, options.device)
    save_figure(plot_sanity(**pictured), options.output)
    n_bad = answers.count(False)
    print(f"{options.output}: the same as a picture" + (f"; {n_bad} of {len(answers)} to look at" if n_bad else ""))
    return int(n_bad > 0)


def examine(
    package: Package, pairs: list[Pair], norm_first: bool = False, device: str = "cpu"
) -> tuple[list[bool], dict[str, Any]]:
    """Asks a fresh model of the package all questions, with the first few of the pairs as its one batch.

    Prints the answers. Returns whether each is as hoped for, and the arguments of `plot_sanity`.
    """
    answers: list[bool] = []

    def answer(question: str, is_good: bool, text: str) -> None:
        print(f"{'ok  ' if is_good else 'LOOK'}  {question}  {text}", flush=True)
        answers.append(is_good)

    torch.manual_seed(0)
    config = replace(SETTINGS, norm_first=norm_first)
    setup = Setup.fresh(package, config, package.data.take_census(pairs).counts)
    chosen, v = pairs[:N_PAIRS], len(setup.tgt_vocab)
    batch = setup.batch(chosen, device)
    model = setup.build_model().to(device)

    uniform, predictions = math.log(v), predict(model, batch)[0].transpose(1, 2)
    first = nn.functional.cross_entropy(predictions, batch.labels, ignore_index=package.vocab.PAD_ID)
    text = f"{first.item():.2f}; ln v = {uniform:.2f} for v = {v} equally likely tokens"
    answer("Is the first loss that of a guess?", abs(first.item() - uniform) < NEAR, text)

    first.backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    without = [name for name, gradient in gradients.items() if gradient is None or not gradient.norm() > 0]
    text = f"{len(gradients) - len(without)} of {len(gradients)} do{f'; not {first_of(without, 3)}' if without else ''}"
    answer("Does every parameter get a gradient?", not without, text)

    influence = measure_influence(model, batch, v)
    ahead = influence.triu(1).max().item()
    text = f"a later token changes a prediction by {ahead:.1g} at most, an earlier one by {influence.max().item():.1g}"
    answer("Does no position see the future?", ahead < SAME < influence.tril().max().item(), text)

    padded = padding_difference(setup, model, batch, chosen)
    text = f"the shortest sentence alone and beside longer ones: {padded:.1g} apart at most"
    answer("Does padding change nothing?", padded < SAME, text)

    losses = [first.item()]
    try:
        losses += overfit(setup, model, batch)
        is_learned = losses[-1] < LEARNED * losses[0]
        text = f"loss {losses[0]:.2f}, and {losses[-1]:.3f} after {len(losses) - 1} steps"
        answer("Can it learn one batch by heart?", is_learned, text)
    except NotImplementedError:
        print("train_epoch is not written yet (task 3.1): nothing is trained", file=sys.stderr)
    length = int((batch.labels[0] != package.vocab.PAD_ID).sum())
    tokens = ["<bos>", *chosen[0][1]][:length]
    return answers, {"uniform": uniform, "losses": losses, "influence": influence[:length, :length], "tokens": tokens}


def measure_influence(model: Transformer, batch: Batch, v: int) -> Tensor:
    """Changes each target token of the first sentence in turn: how far does which prediction move? (t, t)."""
    t = batch.tgt_input.size(1)
    first = replace(batch, **{name: value[:1].repeat_interleave(t + 1, 0) for name, value in vars(batch).items()})
    for place in range(t):
        first.tgt_input[place, place] = (first.tgt_input[place, place] + 1) % v
    *changed, intact = forced_decode(model, first)[0]
    return torch.stack([(predictions - intact).abs().amax(-1) for predictions in changed], dim=1).cpu()


def padding_difference(setup: Setup, model: Transformer, batch: Batch, pairs: list[Pair]) -> float:
    """Returns how far the predictions for the shortest sentence differ between the batch and a batch of its own."""
    place = min(range(len(pairs)), key=lambda index: len(pairs[index][0]))
    alone = setup.batch([pairs[place]], batch.src.device)
    got, wanted = forced_decode(model, batch)[0][place], forced_decode(model, alone)[0][0]
    return (got[: len(wanted)] - wanted).abs().max().item()


def overfit(setup: Setup, model: Transformer, batch: Batch) -> Iterator[float]:
    """Trains on one batch; yields the loss of each step."""
    optimizer = make_optimizer(setup.config, model)
    scheduler = make_scheduler(optimizer, setup.config, N_STEPS)
    criterion = nn.CrossEntropyLoss(ignore_index=setup.package.vocab.PAD_ID)
    for _ in tqdm(range(N_STEPS), "one batch", leave=False, delay=2):
        yield setup.package.train.train_epoch([batch], model, optimizer, criterion, scheduler=scheduler)


def add_pack_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    text = "the archive (default: submission.zip)"
    parser.add_argument("--output", type=Path, default=Path("submission.zip"), help=text)


def pack(options: argparse.Namespace) -> int:
    """Writes the archive, and prints what is in it; returns 1 if a file cannot be graded."""
    folder = options.package.folder
    files = collect(folder)
    with in_one_piece(options.output) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in files.items():
            archive.writestr(f"{folder.name}/{name}", path.read_bytes())
    print(f"{options.output}: {len(files)} files, {options.output.stat().st_size / 1e3:,.0f} kB")
    for note in notes(folder, files):
        print(f"note: {note}")
    faults = list(problems(options.package, files))
    for fault in faults:
        print(f"{options.package.name}: {fault}", file=sys.stderr)
    return int(bool(faults))


def collect(folder: Path) -> dict[str, Path]:
    """Returns the files to hand in, by their names below the package's folder."""
    files = {}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder)
        if not any(part[0] in "._" for part in name.parts[:-1]):  # such as .ipynb_checkpoints
            files[name.as_posix()] = path
    others = [(ANSWERS, folder), (TRANSLATIONS.name, folder.parent), (TRANSLATIONS.name, folder)]
    return files | {name: place / name for name, place in others if (place / name).is_file()}


def notes(folder: Path, files: dict[str, Path]) -> Iterator[str]:
    """Yields what is not finished or missing."""
    texts = {name: path.read_text(encoding="utf-8", errors="replace") for name, path in files.items()}
    for name, text in texts.items():
        if name.endswith(".py"):
            yield from (f"not finished: {task} ({name})" for task in dict.fromkeys(LEFT.findall(text)))
    if ANSWERS in files and not SECTION.search(texts[ANSWERS]):
        yield f"nothing is written in {folder.name}/{ANSWERS}"
    if TRANSLATIONS.name not in files:
        yield f"no {folder.name}/{TRANSLATIONS}: without it the tasks of BLEU earn nothing"


def problems(package: Package, files: dict[str, Path]) -> Iterator[str]:
    """Yields what cannot be graded: modules that fail, files that are too large, a wrong number of translations."""
    broken: dict[str, None] = {}  # one file may keep several modules from being imported
    for module in MODULES:
        try:
            getattr(package, module)
        except BrokenModuleError as error:
            broken[str(error)] = None
    yield from broken
    for name, path in files.items():
        if (size := path.stat().st_size) > (most := MOST_BYTES[path.suffix]):
            yield f"{path}: {size:,} bytes; at most {most:,} are read ({name})"
    if TRANSLATIONS.name in files and SOURCES.is_file():
        path = files[TRANSLATIONS.name]
        lines = path.read_text(encoding="utf-8", errors="replace").removesuffix("\n").split("\n")
        n_wanted = len(SOURCES.read_text(encoding="utf-8", errors="replace").splitlines())
        while len(lines) > n_wanted and not lines[-1].strip():  # a translation may be empty, the last one too
            lines.pop()
        if len(lines) != n_wanted:
            yield f"{path}: {len(lines)} lines; expected {n_wanted}, one for each line of {SOURCES}"
