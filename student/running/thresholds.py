"""The BLEU thresholds of the assignment, read from the file that sets them."""

import tomllib
from pathlib import Path

from .config import ConfigError

ASSIGNMENT = Path("autograder/assignment/assignment.toml")


def read_thresholds(path: Path | str | None = None) -> dict[str, float]:
    """Reads the table `[thresholds]`: BLEU between 0 and 1 by name.

    Args:
        path: of a TOML file; None = the assignment's, or no thresholds where there is none.

    Raises:
        ConfigError: if the file cannot be read, or its table is missing or wrong.
    """
    if path is None and not ASSIGNMENT.is_file():
        return {}
    path = path or ASSIGNMENT
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8")).get("thresholds")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:  # no UTF-8, no TOML, or a number of thousands of digits
        raise ConfigError(f"{path}: {error}") from None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: expected a table [thresholds], such as `beginner = 0.30`")
    for name, value in table.items():
        if type(value) not in (int, float) or not 0 <= value <= 1:
            raise ConfigError(f"{path}: thresholds.{name} = {value!r}: expected a number between 0 and 1")
    return {name: float(value) for name, value in table.items()}
