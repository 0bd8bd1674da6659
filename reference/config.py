"""All settings of a run in one frozen, typed place; the command line's flags are made from it.

Names are the contract's (`d_model` is the course report's `embedding_size`, `d_ff` its `hidden_size`).
"""

import argparse
import difflib
import math
from dataclasses import asdict, dataclass, field, fields, replace

from .schedule import SCHEDULES

INITIALISATIONS = ("default", "xavier")


class ConfigError(ValueError):
    """A setting that does not exist or cannot be; the message says what would be right."""


def setting(default: object, text: str, **limits: object) -> object:
    """A field of `Config` with its help text and its limits: `low`, `high` or `choices`."""
    return field(default=default, metadata={"help": text, **limits})


@dataclass(frozen=True)
class Config:
    """One run: model, data, training, decoding."""

    d_model: int = setting(128, "features of every vector; a multiple of n_heads", low=1)
    n_heads: int = setting(4, "attention heads", low=1)
    d_ff: int = setting(256, "inner features of the feed-forward network", low=1)
    n_layers: int = setting(2, "layers of the encoder, and of the decoder", low=1)
    dropout: float = setting(0.2, "share of activations dropped in training", low=0.0, high=1.0)
    norm_first: bool = setting(False, "pre-norm instead of post-norm (task E.2)")
    tie_output: bool = setting(False, "share the target embedding with the output projection")
    initialisation: str = setting("xavier", "xavier: Glorot and Bengio 2010", choices=INITIALISATIONS)
    diagonal_width: int = setting(0, "band of the encoder's diagonal mask (task E.1); 0 = no such mask", low=0)
    diagonal_random: float = setting(0.0, "share of cells allowed beside the band", low=0.0, high=1.0)

    epochs: int = setting(10, "passes over the training data", low=1)
    batch_size: int = setting(32, "sentences in a batch", low=1)
    bucketing: bool = setting(False, "batches of sentences of like length")
    min_count: int = setting(1, "rarer tokens of the training data become <unk>", low=1)
    learning_rate: float = setting(1e-3, "the highest rate of Adam", low=0.0)
    schedule: str = setting("constant", "shape of the learning rate", choices=SCHEDULES)
    warmup_steps: int = setting(0, "steps in which the rate rises to its highest", low=0)
    label_smoothing: float = setting(
        0.1, "share of probability spread over all tokens: Vaswani et al. 2017, 5.4", low=0.0, high=1.0
    )
    accumulate: int = setting(1, "batches for one step of the optimizer", low=1)
    max_grad_norm: float = setting(0.0, "clips the gradient's norm; 0 = no clipping", low=0.0)
    seed: int = setting(0, "of initialisation, order, dropout and diagonal mask", low=0, high=2**64 - 1)

    max_length: int = setting(50, "greatest number of tokens of a translation", low=1, high=511)
    beam_size: int = setting(1, "1 = greedy search, more = beam search (task E.3)", low=1, high=100)
    length_penalty: float = setting(0.6, "exponent of the length in a hypothesis' score")

    def __post_init__(self) -> None:
        """Checks types and limits.

        Raises:
            ConfigError: naming the setting, its value, and what would be right.
        """
        for item in fields(self):
            value = getattr(self, item.name)
            if item.type is float and type(value) is int:
                object.__setattr__(self, item.name, value := float(value))
            if type(value) is not item.type:
                raise ConfigError(f"{item.name} = {value!r}: expected {item.type.__name__}")
            choices, low, high = (item.metadata.get(key) for key in ("choices", "low", "high"))
            if choices and value not in choices:
                raise ConfigError(f"{item.name} = {value!r}: expected one of {', '.join(choices)}")
            if (low is not None and not value >= low) or (high is not None and not value <= high):
                limits = f"at least {low}" if high is None else f"between {low} and {high}"
                raise ConfigError(f"{item.name} = {value!r}: expected {limits}")
            if item.type is float and not math.isfinite(value):
                raise ConfigError(f"{item.name} = {value!r}: expected a finite number")
        if self.d_model % self.n_heads:
            raise ConfigError(f"d_model = {self.d_model} is no multiple of n_heads = {self.n_heads}")
        if self.diagonal_random and not self.diagonal_width:
            raise ConfigError(
                f"diagonal_random = {self.diagonal_random} does nothing with diagonal_width = 0: give both or neither"
            )

    @classmethod
    def from_dict(cls, settings: dict[str, object]) -> "Config":
        """Takes settings by name; the others keep their defaults.

        Raises:
            ConfigError: where a name is unknown, with the nearest valid one.
        """
        valid = [item.name for item in fields(cls)]
        for name in settings:
            if name not in valid:
                nearest = difflib.get_close_matches(name, valid, n=1, cutoff=0.0)[0]
                raise ConfigError(f"unknown setting {name!r}; did you mean {nearest!r}?")
        return cls(**settings)

    def to_dict(self) -> dict[str, object]:
        """All settings by name, for checkpoints and logs."""
        return asdict(self)


COURSE = Config()

PRESETS = {
    "course": COURSE,
    "fast": replace(
        COURSE,
        dropout=0.1,
        norm_first=True,
        tie_output=True,
        bucketing=True,
        learning_rate=2e-3,
        schedule="cosine",
        warmup_steps=400,
        max_grad_norm=1.0,
    ),
    "tiny": replace(COURSE, d_model=32, d_ff=64, n_layers=1, epochs=1, batch_size=64),
}


def add_config_flags(parser: argparse.ArgumentParser) -> None:
    """Adds `--preset` and a flag for every setting (`d_model` -> `--d-model`)."""
    parser.add_argument("--preset", choices=PRESETS, help="settings to start from (default: course)")
    group = parser.add_argument_group("settings that differ from the preset")
    for item in fields(Config):
        flag, text = "--" + item.name.replace("_", "-"), f"{item.metadata['help']} ({in_presets(item.name)})"
        if item.type is bool:
            group.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=text)
        else:
            group.add_argument(flag, type=item.type, default=None, help=text, choices=item.metadata.get("choices"))


def in_presets(name: str) -> str:
    """The values of a setting: "course 10, fast 6, tiny 1", or the one that all presets share."""
    values = {preset: getattr(config, name) for preset, config in PRESETS.items()}
    if len(set(values.values())) == 1:
        return f"default: {values['course']}"
    return ", ".join(f"{preset} {value}" for preset, value in values.items())


def config_from_flags(arguments: argparse.Namespace) -> Config:
    """The preset with what the flags changed.

    Raises:
        ConfigError: where a value is out of its limits.
    """
    given = {item.name: getattr(arguments, item.name) for item in fields(Config)}
    changed = {name: value for name, value in given.items() if value is not None}
    return replace(PRESETS[arguments.preset or "course"], **changed)


def config_flags_in(arguments: argparse.Namespace) -> list[str]:
    """The flags of settings that were given, `--preset` among them."""
    names = ["preset", *(item.name for item in fields(Config))]
    return ["--" + name.replace("_", "-") for name in names if getattr(arguments, name) is not None]
