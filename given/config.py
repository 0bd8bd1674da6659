"""All settings of a run in one frozen, typed place; flags are made from it. Presets are in `presets.toml`.

Names are those of the assignment (`d_model` is called `embedding_size` in the course's report, `d_ff` `hidden_size`).
"""

import argparse
import math
import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from foundation.command_line import UserError

LENGTHS = ("epochs", "max_steps")  # what may change when a run is resumed
LANGUAGES = "languages.json"  # names the tokenizers of a prepared corpus, for raw text


class ConfigError(UserError):
    """A setting that does not exist or has an impossible value; the message has what would be right."""


def setting(default: Any, text: str, low: float = 0, high: float = math.inf, choices: Any = None) -> Any:
    """Makes a field of `Config` with its help text and what its value may be."""
    return field(default=default, metadata={"help": text, "low": low, "high": high, "choices": choices})


@dataclass(frozen=True)
class Config:
    """One run: model, data, training, decoding."""

    d_model: int = setting(128, "features of each vector; a multiple of n_heads", low=1)
    n_heads: int = setting(4, "attention heads", low=1)
    d_ff: int = setting(256, "inner features of the feed-forward network", low=1)
    n_layers: int = setting(2, "layers of the encoder, and of the decoder", low=1)
    dropout: float = setting(0.2, "share of activations dropped in training", high=1)
    inner_dropout: float = setting(0.0, "the same inside the feed-forward network and for attention weights", high=1)
    norm_first: bool = setting(False, "pre-norm instead of post-norm (task E.2)")
    tie_output: bool = setting(False, "share the target embedding with the output projection")
    share_embeddings: bool = setting(False, "one vocabulary and one embedding table for both languages")
    initialisation: str = setting(
        "pytorch",
        "of matrices; pytorch: as nn.Linear makes them; xavier: Glorot and Bengio 2010; kaiming: He et al. 2015",
        choices=("pytorch", "xavier", "kaiming"),
    )
    diagonal_width: int = setting(0, "band of the encoder's diagonal mask (task E.1); 0 = no such mask")
    diagonal_random: float = setting(0.0, "share of cells allowed outside the band", high=1)

    epochs: int = setting(10, "passes over the training data", low=1)
    max_steps: int = setting(0, "steps of the optimizer, in place of `epochs`; 0 = whole epochs")
    report_every: int = setting(0, "measure dev BLEU and save after so many steps; 0 = by epochs")
    report_epochs: int = setting(1, "the same after so many epochs, where `report_every` is 0", low=1)
    save_every: int = setting(0, "save between reports, too, after so many steps; 0 = never")
    batch_size: int = setting(32, "sentences per batch", low=1)
    bucketing: bool = setting(False, "put sentences of similar length into one batch")
    most_tokens: int = setting(
        0,
        "leave out pairs with a longer side; 0 = a source of over 512 tokens or a target of over 511 is an error",
        high=511,
    )
    min_count: int = setting(1, "tokens that occur less often in the training data become <unk>", low=1)
    learning_rate: float = setting(1e-3, "Adam's highest learning rate")
    adam_epsilon: float = setting(1e-8, "Adam's epsilon, which keeps its steps finite")
    weight_decay: float = setting(0.0, "decay of all matrices per step (AdamW: Loshchilov and Hutter 2019)")
    schedule: str = setting(
        "constant", "how the learning rate changes", choices=("constant", "inverse_sqrt", "cosine", "linear")
    )
    warmup_steps: int = setting(0, "steps in which the learning rate rises to its highest")
    label_smoothing: float = setting(
        0.1, "share of probability spread over all tokens: Vaswani et al. 2017, 5.4", high=1
    )
    accumulate: int = setting(1, "batches per step of the optimizer", low=1)
    max_grad_norm: float = setting(0.0, "clip the gradient's norm; 0 = no clipping")
    seed: int = setting(0, "seed for initialisation, order, dropout and diagonal mask", high=2**64 - 1)

    max_length: int = setting(50, "the most tokens of a translation", low=1, high=511)
    cached: bool = setting(True, "decode the reference's models with the key/value cache, which students do not have")
    beam_size: int = setting(1, "1 = greedy search, more = beam search (task E.3)", low=1, high=100)
    length_penalty: float = setting(0.6, "exponent of the length in a hypothesis' score", low=-10, high=10)

    def __post_init__(self) -> None:
        """Checks limits. Raises: ConfigError naming the setting, its value, and what would be right."""
        for item in fields(self):
            value, low, high = getattr(self, item.name), item.metadata["low"], item.metadata["high"]
            if item.type in (int, float) and not low <= value <= high:
                expected = f"at least {low}" if high == math.inf else f"between {low} and {high}"
                raise ConfigError(f"{item.name} = {value!r}: expected {expected}")
        if self.diagonal_random and not self.diagonal_width:
            raise ConfigError(f"diagonal_random = {self.diagonal_random} has no effect with diagonal_width = 0")


PRESETS = {"course": Config()}
for _name, _settings in tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8")).items():
    PRESETS[_name] = replace(PRESETS[_settings.pop("based_on")], **_settings)


def add_config_flags(parser: argparse.ArgumentParser) -> None:
    """Adds `--preset`, and a flag for each setting (`d_model` -> `--d-model`)."""
    parser.add_argument("--preset", choices=PRESETS, help="settings to start from (default: course)")
    group = parser.add_argument_group("settings that differ from the preset")
    for item in fields(Config):
        flag, text = "--" + item.name.replace("_", "-"), f"{item.metadata['help']} (course: {item.default})"
        if item.type is bool:
            group.add_argument(flag, action=argparse.BooleanOptionalAction, help=text)
        else:
            kind = item.type if callable(item.type) else str
            group.add_argument(flag, type=kind, help=text, choices=item.metadata["choices"])


def settings_in(options: argparse.Namespace) -> dict[str, Any]:
    """Returns the settings that flags change, by name."""
    values = {item.name: getattr(options, item.name, None) for item in fields(Config)}
    return {name: value for name, value in values.items() if value is not None}


def config_from_flags(options: argparse.Namespace) -> Config:
    """Returns the preset with the changes of the flags. Raises: ConfigError if a setting is out of its limits."""
    return replace(PRESETS[options.preset or "course"], **settings_in(options))
