"""`train --resume --from epoch-02`: a run goes on from a kept checkpoint, as if it had not been trained further."""

import json
import shutil
from pathlib import Path

from ...whole_files import in_one_piece, make_folder
from ..checkpoint import Checkpoint
from ..config import ConfigError
from ..run_folder import kept_name


def find_kept(folder: Path, name: str) -> Path:
    """Returns the checkpoint that `name` means: `epoch-02`, `2`, or the path of a file.

    Raises:
        ConfigError: if there is none.
    """
    named = f"epoch-{int(name):02}" if name.isdecimal() else name.removesuffix(".pt")
    for path in (folder / f"{named}.pt", Path(name)):
        if path.is_file():
            return path
    kept = sorted(path.stem for pattern in ("epoch-*.pt", "step-*.pt") for path in folder.glob(pattern))
    there = f"there are {', '.join(kept)}" if kept else "it keeps none; `train --keep-epochs` does"
    raise ConfigError(f"--from {name}: no such checkpoint in {folder}; {there}")


def rewind(folder: Path, path: Path) -> None:
    """Puts a run's folder back to the checkpoint at `path`: what was saved later is removed.

    The best checkpoint so far is restored if it was kept; otherwise this one counts as the best.
    """
    start = Checkpoint.load(path)
    make_folder(folder)
    lines = (folder / "history.jsonl").read_text("utf-8").splitlines() if (folder / "history.jsonl").is_file() else []
    later = [json.loads(line) for line in lines[len(start.history) :]]
    best = path.with_name(kept_name(max(start.history, key=lambda line: line["dev_bleu"])))
    for name, source in (("best.pt", best if best.is_file() else path), ("last.pt", path)):
        with in_one_piece(folder / name) as unfinished:
            shutil.copyfile(source, unfinished)
    with in_one_piece(folder / "history.jsonl") as unfinished:
        unfinished.write_text("".join(json.dumps(line) + "\n" for line in start.history))
    for line in later:
        (folder / kept_name(line)).unlink(missing_ok=True)
    if later:
        print(f"{folder}: back to epoch {start.history[-1]['epoch']:g}; what was trained after it is removed")
