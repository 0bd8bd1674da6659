"""Reads datasets with the library `datasets`: from the Hugging Face hub, or from a folder of files."""

from __future__ import annotations

import os
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

from ..files import CorpusError
from .parallel import TextPair

HUB = "https://huggingface.co"
SECONDS_TO_ANSWER = 4.0


def read_dataset(name: str, config: str | None, languages: TextPair) -> dict[str, Iterator[TextPair]]:
    """Returns the splits of a dataset whose rows have a text per language: in a field `translation` or as columns.

    Args:
        name: on the hub, or a folder of data files.
        config: such as `de-en`; None if the dataset has only one.
        languages: of source and target, such as `("de", "en")`.

    Raises:
        CorpusError: if the library is missing, or the dataset has no such languages.
    """
    is_online = Path(name).exists() or is_hub_reachable()
    if not is_online:  # then the library takes a copy that it has kept, or fails at once
        os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        import datasets
    except ImportError:
        raise CorpusError("--dataset: the library datasets is not installed; pip install datasets") from None
    datasets.disable_progress_bars()
    try:
        splits = datasets.load_dataset(name, config)
    except Exception as problem:  # of a dozen libraries: no such name, no such configuration, a damaged file
        if not is_online:
            raise CorpusError(
                f"--dataset {name}: no such folder here, and {_hub()} cannot be reached; name a folder of files, or "
                "try again"
            ) from None
        first = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise CorpusError(f"--dataset {name}: it cannot be loaded: {first}") from None

    def rows(split: str) -> Iterator[TextPair]:
        for row in splits[split]:
            found = row["translation"] if isinstance(row.get("translation"), dict) else row
            # An empty cell of a table is None.
            if not all(side in found and isinstance(found[side] or "", str) for side in languages):
                known, expected = ", ".join(map(str, found)), " and ".join(languages)
                raise CorpusError(f"--dataset {name}: a row has {known}; expected texts in {expected}")
            yield found[languages[0]] or "", found[languages[1]] or ""

    return {split: rows(split) for split in splits}


def is_hub_reachable() -> bool:
    """Whether the hub answers within a few seconds; by itself the library would try for half a minute."""
    answers: list[bool] = []

    def ask() -> None:
        try:
            urllib.request.urlopen(_hub(), timeout=SECONDS_TO_ANSWER).close()  # noqa: S310  # of a web address
            answers.append(True)
        except urllib.error.HTTPError as error:  # of the hub itself, or of a proxy that lets nothing through?
            answers.append(error.code == HTTPStatus.NOT_FOUND)
        except (OSError, ValueError):
            answers.append(False)

    asking = threading.Thread(target=ask, daemon=True)  # looking up the name has a time limit of its own
    asking.start()
    asking.join(SECONDS_TO_ANSWER)
    return any(answers)


def _hub() -> str:
    return os.environ.get("HF_ENDPOINT") or HUB
