"""Measures how fast the kit is, how well it judges, and what the reference reaches."""

import sys
from pathlib import Path

import torch

from autograder.classroom.store import StoreError
from autograder.diagnosis.catalogue import CatalogueError
from autograder.sandbox.errors import SandboxUnavailableError
from autograder.scoring import ScoringError
from foundation.command_line import INTERRUPTED, Parser, at_least, positive, print_anywhere, with_output
from foundation.printable_text import printable
from foundation.whole_files import OutputError
from given.config import PRESETS, ConfigError
from given.run_folder import CheckpointError
from reference.data import DataError
from validity.proof.reading_variants import VariantError

from . import (
    agreement,
    attention_ways,
    cluster,
    decoding,
    grading,
    kills,
    memory,
    reached,
    speed,
    stability,
    store,
    to_bleu,
    training,
    whole_class,
)
from .similarity import measuring as similarity
from .similarity import translations
from .tables import command as tables

USER_ERRORS = (
    CatalogueError,
    CheckpointError,
    ConfigError,
    DataError,
    OutputError,
    SandboxUnavailableError,
    ScoringError,
    StoreError,
    VariantError,
)
TRAIN, DEV = Path("data/corpus/fren.train.bpe"), Path("data/corpus/fren.dev.bpe")


def main(arguments: list[str] | None = None) -> int:
    """Runs one measurement, which prints a table; returns the exit status."""
    print_anywhere()
    parser = Parser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    sub = commands.add_parser(
        "decoding",
        help="sentences per CPU second, greedily and with a beam: one at a time, batched, and with the key/value cache",
        epilog="example: python -m benchmarks decoding",
    )
    sub.add_argument("--checkpoint", type=Path, help="default: a model that is trained first, in runs/bench")
    sub.add_argument("--input", type=Path, default=DEV, help="sources, or `source|||target` lines")
    sub.add_argument("--train", type=Path, default=TRAIN, help="pairs to train that model on")
    sub.set_defaults(run=lambda options: decoding.measure(options.checkpoint, options.train, options.input))

    sub = commands.add_parser(
        "speed",
        help="tokens a second in training, share of the peak, and against torch.nn.Transformer",
        epilog="example: python -m benchmarks speed --presets course fast",
    )
    sub.add_argument("--train", type=Path, default=TRAIN, help="`source|||target` lines")
    names = ["course", "fast"]
    sub.add_argument("--presets", nargs="+", choices=PRESETS, default=names, help="sizes (default: course fast)")
    sub.add_argument("--batches", type=positive, default=40, help="batches of each round (default: 40)")
    sub.set_defaults(run=lambda options: speed.measure(options.train, options.presets, options.batches))

    sub = commands.add_parser(
        "quick",
        help="seconds of CPU and memory that a whole training run takes, and its dev BLEU",
        epilog="example: python -m benchmarks quick --seeds 3 --ablation",
    )
    sub.add_argument("--train", type=Path, default=TRAIN, help="`source|||target` lines")
    sub.add_argument("--dev", type=Path, default=DEV, help="likewise")
    sub.add_argument("--preset", choices=PRESETS, default="quick", help="what to train (default: quick)")
    sub.add_argument("--seeds", type=positive, default=1, help="runs of each row (default: 1)")
    sub.add_argument("--ablation", action="store_true", help="also take back each setting that `course` does not have")
    sub.set_defaults(
        run=lambda options: to_bleu.measure(options.train, options.dev, options.preset, options.seeds, options.ablation)
    )

    sub = commands.add_parser(
        "attention",
        help="the same multi-head attention written in four ways, timed side by side",
        epilog="example: python -m benchmarks attention --rounds 15",
    )
    sub.add_argument("--rounds", type=positive, default=15, help="rounds, of which the median counts (default: 15)")
    sub.set_defaults(run=lambda options: attention_ways.measure(options.rounds))

    sub = commands.add_parser(
        "ablations",
        help="dev BLEU of the reference over seeds, and of models with a part missing",
        epilog="example: python -m benchmarks ablations --seeds 5 --output runs/ablations",
    )
    sub.add_argument("--seeds", type=positive, default=5, help="runs of the intact model (default: 5)")
    sub.add_argument("--epochs", type=positive, help="default: the preset's")
    sub.add_argument("--train", type=Path, default=TRAIN)
    sub.add_argument("--dev", type=Path, default=DEV)
    sub.add_argument(
        "--output", type=Path, default=Path("runs/ablations"), help="folder for results; finished runs are not repeated"
    )
    sub.set_defaults(
        run=lambda options: training.measure(options.seeds, options.epochs, options.train, options.dev, options.output)
    )
    sub = commands.add_parser(
        "tables",
        help="the three tables of the course's report, with several seeds",
        epilog="example: python -m benchmarks tables --tables 3 --only small medium --seeds 3",
    )
    tables.add_flags(sub)
    sub.set_defaults(run=tables.run)
    sub = commands.add_parser(
        "memory",
        help="the most memory that preparing and training on made-up corpora of several sizes take",
        epilog="example: python -m benchmarks memory --pairs 250000 500000 1000000",
    )
    sizes = [250_000, 500_000, 1_000_000]
    sub.add_argument(
        "--pairs", type=positive, nargs="+", default=sizes, metavar="N", help="default: 250000 500000 1000000"
    )
    sub.add_argument("--steps", type=positive, default=200, help="of training (default: 200)")
    sub.add_argument("--folder", type=Path, help="for the made-up text, some GB (default: the system's)")
    sub.set_defaults(run=lambda options: memory.measure(options.pairs, options.steps, options.folder))
    sub = commands.add_parser(
        "grading",
        help="CPU time of grading one submission alone and in a class, and of the tests without a sandbox",
        epilog="example: python -m benchmarks grading --count 30",
    )
    sub.add_argument("--count", type=positive, default=30, help="submissions of each kind in the class (default: 30)")
    sub.set_defaults(run=lambda options: grading.measure(options.count))
    sub = commands.add_parser(
        "stability",
        help="whether the same submissions get the same marks with any seed",
        epilog="example: python -m benchmarks stability --seeds 200",
    )
    sub.add_argument("--seeds", type=positive, default=200, help="gradings of each submission (default: 200)")
    sub.set_defaults(run=lambda options: stability.measure(options.seeds))
    sub = commands.add_parser(
        "kills",
        help="whether marks survive processes that are killed at random moments",
        epilog="example: python -m benchmarks kills --count 60 --size 300",
    )
    sub.add_argument("--count", type=positive, default=60, help="processes to kill (default: 60)")
    sub.add_argument("--seed", type=int, help="of the moments and the victims (default: a new one each time)")
    sub.add_argument(
        "--size", type=positive, default=kills.SMALL, help=f"submissions of the class (default: {kills.SMALL})"
    )
    sub.set_defaults(run=lambda options: kills.measure(options.count, options.size, options.seed))
    sub = commands.add_parser(
        "store",
        help="what the queue and the database of a class cost for each submission, with a stub grader",
        epilog="example: python -m benchmarks store --count 10000",
    )
    sub.add_argument("--count", type=at_least(store.FEWEST), default=10_000, help="submissions (default: 10000)")
    sub.add_argument("--store", metavar="URL", help="an empty database (default: SQLite in a temporary folder)")
    sub.set_defaults(run=lambda options: store.measure(options.count, options.store))
    sub = commands.add_parser(
        "class",
        help="how long a class of 300 real submissions takes, good, faulty, broken and hostile ones",
        epilog="example: python -m benchmarks class --count 300 --jobs 2",
    )
    sub.add_argument("--count", type=positive, default=300, help="submissions, a third of them broken (default: 300)")
    sub.add_argument("--jobs", type=positive, default=2, help="graded at a time (default: 2)")
    sub.add_argument("--seed", type=int, default=0, help="of the sample and the tests' inputs (default: 0)")
    sub.add_argument("--keep", type=Path, help="an empty folder for the class and its marks (default: a temporary one)")
    sub.set_defaults(run=lambda options: whole_class.measure(options.count, options.jobs, options.seed, options.keep))
    sub = commands.add_parser(
        "cluster",
        help="how much sooner a class is graded with two Dask workers than with one, with a stub grader",
        epilog="example: python -m benchmarks cluster --count 30",
    )
    sub.add_argument("--count", type=positive, default=30, help="submissions (default: 30)")
    sub.add_argument("--rounds", type=positive, default=3, help="with one worker and with two, in turn (default: 3)")
    sub.add_argument("--waiting", action="store_true", help="submissions take time, but no core")
    sub.set_defaults(run=lambda options: cluster.measure(options.count, options.rounds, options.waiting))
    sub = commands.add_parser(
        "agreement",
        help="whether a student's own run of the tests and the grading agree",
        epilog="example: python -m benchmarks agreement --one-in 10",
    )
    sub.add_argument("--one-in", type=positive, default=1, help="try one of so many submissions (default: 1, all)")
    sub.add_argument("--seed", type=int, default=0, help="of the random inputs (default: 0)")
    sub.set_defaults(run=lambda options: agreement.measure(options.one_in, options.seed))
    sub = commands.add_parser(
        "reached",
        help="how many branch outcomes of judged code the component tests reach",
        epilog="example: python -m benchmarks reached --count 60",
    )
    sub.add_argument("--count", type=positive, default=60, help="submissions to try, of all kinds (default: 60)")
    sub.add_argument("--only", default="", help="only submissions whose name contains this text")
    sub.add_argument("--seed", type=int, default=0, help="of the sample and the random inputs (default: 0)")
    sub.set_defaults(run=lambda options: reached.measure(options.count, options.seed, options.only))
    sub = commands.add_parser(
        "similarity",
        help="planted copies that are found, false alarms among independent solutions, and the CPU time of a class",
        epilog="example: python -m benchmarks similarity --count 300 --copies 50 --seeds 3",
    )
    sub.add_argument("--count", type=positive, default=300, help="submissions of a class (default: 300)")
    sub.add_argument("--copies", type=positive, default=50, help="of them, copies in disguise (default: 50)")
    sub.add_argument("--seeds", type=positive, default=3, help="classes to try (default: 3)")
    sub.set_defaults(run=lambda options: similarity.measure(options.count, options.copies, options.seeds))
    sub = commands.add_parser(
        "translations",
        help="what `similar` says about translations of real runs: false alarms, mixed-in references, copies",
        epilog="example: python -m benchmarks translations runs/*/translations.txt",
    )
    sub.add_argument("files", type=Path, nargs="+", help="translations of the test split, by independent runs")
    sub.add_argument("--classes", type=positive, default=500, help="to try of each kind (default: 500)")
    sub.add_argument("--seed", type=int, default=0, help="of the draws (default: 0)")
    sub.set_defaults(run=lambda options: translations.measure(options.files, options.classes, options.seed))
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    try:
        return with_output(lambda: int(options.run(options)))
    except USER_ERRORS as error:
        print(f"benchmarks: {printable(str(error), limit=500)}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"benchmarks: {error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("benchmarks: stopped", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
