"""What a user of the whole model sees of the faults of bug hunts, made by running them.

A hunt with `shows` in `hunts.toml` has such a symptom. A model with its fault is trained with the preset `quick`, but
for the settings in `shows`; so is the intact model. The results are rows of a file; what stands there already is not
done again.
"""

import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from autograder.grading.made_code import SYMPTOMS, hunted_faults, trained
from foundation.assignment_file import read_assignment

from .processes import run
from .seriousness import N_TRANSLATED, PACKAGE, SEED, prepare, read_rows, share_of_others, write_package, write_rows

N_POINTS = 50  # of a curve
TOGETHER = 4  # sentences of a batch
SAMPLES = (8, 9, 12)  # places in dev
WATCHED, LONGER = 4, 8  # likewise: whose attention is noted, and what is before it in the batch


def measure(train: Path, dev: Path) -> int:
    """Trains what the file lacks, and takes out what no hunt shows any more; returns the exit status."""
    assignment = read_assignment()
    path = assignment.folder / SYMPTOMS
    known = {_key(row): row for row in read_rows(path)}
    wanted = [{"fault": name, "settings": settings} for name, settings in trained(assignment)]
    rows = [known.get(_key(row), row) for row in wanted]
    for row in tqdm([row for row in rows if "loss" not in row], "training"):
        done = run("-m", "benchmarks.symptoms", _key(row), train.resolve(), dev.resolve())
        row |= json.loads(done.output.splitlines()[-1])
        write_rows(path, [row for row in rows if "loss" in row])
    write_rows(path, rows)
    return 0


def _key(row: dict[str, Any]) -> str:
    return json.dumps([row["fault"], row["settings"]])


def measure_one(name: str, settings: dict[str, Any], train: Path, dev: Path) -> dict[str, Any]:
    """Trains one model, the intact one without a name.

    Returns:
        loss: means of so many batches each, `every`; None where it is not finite.
        bleu: of dev.
        samples: translations.
        batch: the share of sentences whose translation changes in a batch of four; `example`: the first of them, with
            its translation alone and there.
        attention: the last layer's weights, (target, source), of a sentence with padding, the mean over heads.
        tokens: beside its rows and columns.
    """
    with tempfile.TemporaryDirectory() as scratch:
        write_package(
            Path(scratch) / PACKAGE, next((one for one in hunted_faults(read_assignment()) if one.id == name), None)
        )
        sys.path.insert(0, scratch)
        experiment, losses = prepare(train, dev, seed=SEED, **settings), list[float]()
        note = experiment.criterion.register_forward_hook(lambda _module, _inputs, loss: losses.append(loss.item()))
        experiment.run_epoch(progress=False)
        note.remove()
        n_batches = experiment.config.epochs * len(experiment.loader)  # the losses on dev follow
        every = math.ceil(n_batches / N_POINTS)
        means = [sum(losses[first : first + every]) / every for first in range(0, n_batches - every + 1, every)]
        curve = [_short(mean, 3) for mean in means]
        return {"every": every, "loss": curve, "bleu": experiment.history[-1]["dev_bleu"], **look(experiment)}


def _short(number: float, digits: int) -> float | None:
    return round(number, digits) if math.isfinite(number) else None


def look(run: Any) -> dict[str, Any]:
    """What a trained model makes of some sentences of dev."""
    from given import package
    from given.decoding import forced_decode, translate

    model, vocabularies, pairs = run.model.eval(), (run.src_vocab, run.tgt_vocab), run.dev_pairs

    def several(sources: list[list[str]]) -> list[str]:
        return translate(model, sources, *vocabularies, run.config)

    sources = [source for source, _ in pairs[:N_TRANSLATED]]
    alone = [several([source])[0] for source in sources]
    together = [one for first in range(0, len(sources), TOGETHER) for one in several(sources[first : first + TOGETHER])]
    others = [place for place, (one, other) in enumerate(zip(alone, together, strict=True)) if one != other]
    words = [[package.vocab.join_subwords(side) for side in pair] for pair in pairs[:N_TRANSLATED]]
    two = [pairs[LONGER], pairs[WATCHED]]
    src, tgt = ([known.encode(pair[side]) for pair in two] for side, known in enumerate(vocabularies))
    weights = forced_decode(model, package.data.Batch.from_ids(src, tgt))[1]["cross"][-1][1].mean(dim=0)
    queries = [package.vocab.BOS, *pairs[WATCHED][1]]
    keys = [*pairs[WATCHED][0], *[package.vocab.PAD] * (weights.size(1) - len(pairs[WATCHED][0]))]
    return {
        "samples": [[*words[place], together[place]] for place in SAMPLES],
        "batch": share_of_others(alone, together),
        "example": [[words[place][0], alone[place], together[place]] for place in others[:1]],
        "attention": [[_short(weight, 2) for weight in row] for row in weights[: len(queries)].tolist()],
        "tokens": [queries, keys],
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    name, settings = json.loads(sys.argv[1])
    print(json.dumps(measure_one(name, settings, Path(sys.argv[2]), Path(sys.argv[3])), ensure_ascii=False))
