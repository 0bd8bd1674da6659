"""All settings of a run in one frozen, typed place; flags are made from it and `flags.toml`, which has presets, too.

Names are those of the assignment (`d_model` is called `embedding_size` in the course's report, `d_ff` `hidden_size`).
"""

import argparse
import math
import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from foundation.command_line import UserError

LENGTHS = ("epochs", "max_steps")  # what may change when a run is resumed
LANGUAGES = "languages.json"  # names the tokenizers of a prepared corpus, for raw text


class ConfigError(UserError):
    """A setting that does not exist or has an impossible value; the message has what would be right."""


FLAGS = Path(__file__).with_name("flags.toml")
TABLES: dict[str, dict[str, dict[str, Any]]] = tomllib.loads(FLAGS.read_text(encoding="utf-8"))
SETTINGS = TABLES["settings"]
"""By name of a setting its `help`, and the lowest and highest value (`low`, 0 by default, and `high`) or `choices`."""


@dataclass(frozen=True)
class Config:
    """One run: model, data, training, decoding; `flags.toml` has what each setting means."""

    d_model: int = 128
    n_heads: int = 4
    d_ff: int = 256
    n_layers: int = 2
    dropout: float = 0.2
    inner_dropout: float = 0.0
    norm_first: bool = False
    tie_output: bool = False
    share_embeddings: bool = False
    initialisation: str = "pytorch"
    diagonal_width: int = 0
    diagonal_random: float = 0.0

    epochs: int = 10
    max_steps: int = 0
    report_every: int = 0
    report_epochs: int = 1
    save_every: int = 0
    batch_size: int = 32
    bucketing: bool = False
    most_tokens: int = 0
    min_count: int = 1
    learning_rate: float = 1e-3
    adam_epsilon: float = 1e-8
    weight_decay: float = 0.0
    schedule: str = "constant"
    warmup_steps: int = 0
    label_smoothing: float = 0.1
    accumulate: int = 1
    max_grad_norm: float = 0.0
    seed: int = 0

    max_length: int = 50
    cached: bool = True
    beam_size: int = 1
    length_penalty: float = 0.6

    def __post_init__(self) -> None:
        """Checks limits. Raises: ConfigError naming the setting, its value, and what would be right."""
        for item in fields(self):
            value, low, high = getattr(self, item.name), *map(SETTINGS[item.name].get, ("low", "high"), (0, math.inf))
            if item.type in (int, float) and not low <= value <= high:
                expected = f"at least {low}" if high == math.inf else f"between {low} and {high}"
                raise ConfigError(f"{item.name} = {value!r}: expected {expected}")
        if self.diagonal_random and not self.diagonal_width:
            raise ConfigError(f"diagonal_random = {self.diagonal_random} has no effect with diagonal_width = 0")


PRESETS = {"course": Config()}
for _name, _settings in TABLES["presets"].items():
    PRESETS[_name] = replace(PRESETS[_settings.pop("based_on")], **_settings)


def add_config_flags(parser: argparse.ArgumentParser) -> None:
    """Adds `--preset`, and a flag for each setting (`d_model` -> `--d-model`)."""
    parser.add_argument("--preset", choices=PRESETS, help="settings to start from (default: course)")
    group = parser.add_argument_group("settings that differ from the preset")
    for item in fields(Config):
        flag, text = "--" + item.name.replace("_", "-"), f"{SETTINGS[item.name]['help']} (course: {item.default})"
        if item.type is bool:
            group.add_argument(flag, action=argparse.BooleanOptionalAction, help=text)
        else:
            kind = item.type if callable(item.type) else str
            group.add_argument(flag, type=kind, help=text, choices=SETTINGS[item.name].get("choices"))


def settings_in(options: argparse.Namespace) -> dict[str, Any]:
    """Returns the settings that flags change, by name."""
    values = {item.name: getattr(options, item.name, None) for item in fields(Config)}
    return {name: value for name, value in values.items() if value is not None}


def config_from_flags(options: argparse.Namespace) -> Config:
    """Returns the preset with the changes of the flags. Raises: ConfigError if a setting is out of its limits."""
    return replace(PRESETS[options.preset or "course"], **settings_in(options))
