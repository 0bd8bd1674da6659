"""The command line: train, compare, translate, attention."""

import argparse
import json
import shlex
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import torch

from .checkpoint import Checkpoint, CheckpointError
from .compare import as_table, read_run
from .config import ConfigError, add_config_flags, config_flags_in, config_from_flags
from .data import Batch, DataError, check_length, read_pairs, read_sources
from .experiment import Experiment, build_model
from .files import in_one_piece, make_folder
from .translate import forced_decode, translate
from .vocab import BOS, UNK_ID, Vocabulary

PACKAGE = __package__
CORPUS = Path("data/corpus")
MOST_THREADS = 1024
MOST_UNKNOWN = 0.3  # of the tokens; more are worth a note


class Parser(argparse.ArgumentParser):
    """argparse, but a wrong command line is answered in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (--help shows an example)\n")


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; returns the exit status: 0, or 2 for bad input."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not in a notebook
            stream.reconfigure(errors="backslashreplace")  # a console without accents is no reason to stop
    options = make_parser().parse_args(arguments)
    try:
        set_up_torch(options.threads, options.device)
        return options.run(options)
    except (DataError, ConfigError, CheckpointError) as error:
        print(f"{PACKAGE}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"{PACKAGE}: {place}{error.strerror or error}", file=sys.stderr)
        return 2
    except NotImplementedError as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        print(f"{PACKAGE}: this part is still to be written: {error} ({where})", file=sys.stderr)
        return 1
    except KeyboardInterrupt as stop:
        print(f"\n{PACKAGE}: stopped{stop}", file=sys.stderr)
        return 130


def set_up_torch(threads: int, device: str) -> None:
    """Sets the number of threads and tries the device.

    On a busy machine several threads for such small models are much slower than one.

    Raises:
        ConfigError: where there cannot be so many threads, or PyTorch cannot compute on the device.
    """
    if not 1 <= threads <= MOST_THREADS:
        raise ConfigError(f"--threads {threads}: expected 1 to {MOST_THREADS}")
    torch.set_num_threads(threads)
    try:
        torch.zeros(1, device=device).item()
    except Exception as error:  # each kind of device has its own
        reason = str(error).strip().partition("\n")[0].partition(". ")[0]
        raise ConfigError(f"--device {device}: it cannot be used here: {reason}") from None


def how_to_go_on(options: argparse.Namespace) -> str:
    """The command, with what was given: the settings are in the checkpoint, the rest is not."""
    defaults = vars(make_parser().parse_args(["train"]))
    words = ["python", "-m", PACKAGE, "train", "--resume", "--output", options.output]
    for name in ("train", "dev", "keep_epochs", "tensorboard", "device", "threads"):
        if (value := getattr(options, name)) != defaults[name]:
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [value])]
    return f"; go on with: {shlex.join(map(str, words))}"


def make_parser() -> argparse.ArgumentParser:
    """The commands with their flags."""
    parser = Parser(prog=f"python -m {PACKAGE}", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="train | compare | translate | attention")

    def command(name: str, run, text: str, example: str, computes: bool = True) -> argparse.ArgumentParser:
        sub = commands.add_parser(
            name,
            help=text,
            description=text,
            epilog=f"example: python -m {PACKAGE} {name} {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.set_defaults(run=run, threads=1, device="cpu")
        if computes:
            sub.add_argument("--device", help="cpu, cuda, … (default: cpu)")
            sub.add_argument("--threads", type=int, help="of PyTorch (default: 1)")
        return sub

    train = command("train", run_train, "Train a model; dev BLEU after every epoch.", "--epochs 3 --output runs/short")
    train.add_argument("--train", type=Path, default=CORPUS / "fren.train.bpe", help="`source|||target` lines")
    train.add_argument("--dev", type=Path, default=CORPUS / "fren.dev.bpe", help="likewise")
    train.add_argument("--output", type=Path, default=Path("runs/latest"), help="the run's folder")
    train.add_argument("--resume", action="store_true", help="go on from last.pt in the run's folder")
    train.add_argument("--keep-epochs", action="store_true", help="keep the checkpoint of every epoch")
    train.add_argument("--tensorboard", action="store_true", help="curves for `tensorboard --logdir DIR` too")
    add_config_flags(train)

    text = "Tabulate runs: the settings in which they differ, and the dev BLEU of each."
    comparing = command("compare", run_compare, text, "runs/*", computes=False)
    comparing.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="a folder that `train` made")
    comparing.add_argument("--json", action="store_true", help="all settings and figures, for programs")

    text = "Translate a file, one sentence a line."
    translating = command("translate", run_translate, text, "--output translations.txt")
    add_model_flag(translating)
    translating.add_argument("--input", type=Path, default=CORPUS / "fren.test.src.bpe", help="subwords, or pairs")
    translating.add_argument("--output", type=Path, default=Path("translations.txt"), help="plain text")
    translating.add_argument("--beam-size", type=int, help="1 = greedy; default: as trained")
    translating.add_argument("--cached", action="store_true", help="the reference's key/value cache")

    text = "Draw where a sentence and its translation attend."
    attention = command("attention", run_attention, text, '--sentence "je suis ici ." --output attention.png')
    add_model_flag(attention)
    attention.add_argument("--sentence", required=True, help="source, in subwords")
    attention.add_argument("--target", help="target in subwords; default: the model's own translation")
    attention.add_argument("--kind", choices=("encoder", "decoder", "cross"), default="cross")
    attention.add_argument("--layer", type=int, default=-1, help="1 is the first; default: the last")
    attention.add_argument("--output", type=Path, default=Path("attention.png"), help=".png, .svg or .pdf")
    return parser


def add_model_flag(parser: argparse.ArgumentParser) -> None:
    """Adds `--checkpoint`."""
    parser.add_argument("--checkpoint", type=Path, default=Path("runs/latest/best.pt"), help="what `train` saved")


def run_train(options: argparse.Namespace) -> int:
    """Trains from the start or goes on."""
    train_pairs, dev_pairs = read_pairs(options.train), read_pairs(options.dev)
    if options.resume:
        for flag in config_flags_in(options):
            raise ConfigError(f"--resume goes on with the settings of the run; leave out {flag}")
        run = Experiment.resume(options.output / "last.pt", train_pairs, dev_pairs, options.device)
    else:
        config = config_from_flags(options)
        make_folder(options.output)
        run = Experiment(config, train_pairs, dev_pairs, options.device)
    n_parameters = sum(parameter.numel() for parameter in run.model.parameters())
    print(
        f"{len(train_pairs)} training and {len(dev_pairs)} dev pairs, "
        f"vocabularies {len(run.src_vocab)} and {len(run.tgt_vocab)}, {n_parameters:,} parameters"
    )
    try:
        run.run(options.output, keep_epochs=options.keep_epochs, tensorboard=options.tensorboard)
    except KeyboardInterrupt:
        is_saved = run.history and (options.output / "last.pt").is_file()
        raise KeyboardInterrupt(how_to_go_on(options) if is_saved else "") from None
    print(f"best dev BLEU {max(line['dev_bleu'] for line in run.history):.3f}; saved in {options.output}")
    where = f"--checkpoint {options.output / 'best.pt'} --output {PACKAGE}/translations.txt"
    print(f"next: python -m {PACKAGE} translate {where}")
    return 0


def run_compare(options: argparse.Namespace) -> int:
    """Prints a table of runs."""
    runs = [read_run(folder) for folder in options.runs]
    print(json.dumps(runs, indent=2) if options.json else as_table(runs))
    return 0


def load_model(options: argparse.Namespace) -> tuple[Checkpoint, torch.nn.Module]:
    """The checkpoint and its model, ready for translation."""
    saved = Checkpoint.load(options.checkpoint)
    model = build_model(saved.config, len(saved.src_vocab), len(saved.tgt_vocab)).to(options.device)
    saved.load_weights(model, options.checkpoint)
    return saved, model.eval()


def note_unknown(place: Path | str, sentences: list[list[str]], vocabulary: Vocabulary) -> None:
    """Says so where many tokens are unknown: what comes out will be nonsense."""
    ids = [index for sentence in sentences for index in vocabulary.encode(sentence)]
    if ids.count(UNK_ID) > MOST_UNKNOWN * len(ids):
        why = "text of another corpus, or not split into the subwords of this one?"
        share = f"{ids.count(UNK_ID) / len(ids):.0%} of the tokens are unknown to the checkpoint's vocabulary"
        print(f"{PACKAGE}: note: {place}: {share}: {why}", file=sys.stderr)


def run_translate(options: argparse.Namespace) -> int:
    """Writes one translation a line."""
    saved, model = load_model(options)
    config = saved.config
    if options.beam_size is not None:
        config = replace(config, beam_size=options.beam_size)
    search = None
    if options.cached:
        if config.beam_size > 1:
            raise ConfigError(f"--cached searches greedily, not with beam_size = {config.beam_size}: add --beam-size 1")
        try:
            from .cached_decode import cached_greedy_decode as search
        except ImportError:
            raise ConfigError("--cached: this package has no cached_decode.py; only the reference has one") from None
    sentences = read_sources(options.input)
    note_unknown(options.input, sentences, saved.src_vocab)
    with in_one_piece(options.output) as unfinished:
        lines = translate(
            model,
            sentences,
            saved.src_vocab,
            saved.tgt_vocab,
            config,
            diagonal=saved.diagonal,
            search=search,
            progress=True,
        )
        unfinished.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} translations in {options.output}")
    return 0


def run_attention(options: argparse.Namespace) -> int:
    """Draws one layer's attention maps."""
    try:
        from .pictures import FORMATS, plot_attention, save_figure
    except ImportError:
        raise ConfigError("attention: matplotlib is not installed; pip install matplotlib") from None

    if options.output.suffix.lower() not in FORMATS:
        raise ConfigError(f"--output {options.output}: expected a name that ends in {', '.join(FORMATS)}")
    source = options.sentence.split()
    if not source:
        raise DataError("--sentence: it has no tokens")
    check_length("--sentence", "source", source)
    saved, model = load_model(options)
    note_unknown("--sentence", [source], saved.src_vocab)
    if options.target is None:
        found = translate(
            model, [source], saved.src_vocab, saved.tgt_vocab, saved.config, diagonal=saved.diagonal, subwords=True
        )
        target = found[0].split()
    else:
        target = options.target.split()
        check_length("--target", "target", target)
        note_unknown("--target", [target], saved.tgt_vocab)
    sides = [saved.src_vocab.encode(source)], [saved.tgt_vocab.encode(target)]
    batch = Batch.from_ids(*sides, saved.diagonal).to(options.device)
    weights = forced_decode(model, batch)[1][options.kind]
    read, written = source, [BOS, *target]
    queries, keys = {"encoder": (read, read), "decoder": (written, written), "cross": (written, read)}[options.kind]
    layer = options.layer if options.layer > 0 else len(weights) + 1 + options.layer
    if not 1 <= layer <= len(weights):
        raise ConfigError(f"--layer {options.layer}: expected 1 to {len(weights)}")
    title = f"{options.kind} attention, layer {layer}"
    save_figure(plot_attention(weights[layer - 1][0], queries, keys, title), options.output)
    print(f"{title}: {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
