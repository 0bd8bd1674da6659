"""The flags of the settings: one for each field of `Config`, and `--preset`."""

import argparse
from dataclasses import fields, replace

from ..running.config import PRESETS, Config


def add_config_flags(parser: argparse.ArgumentParser) -> None:
    """Adds `--preset` and a flag for each setting (`d_model` -> `--d-model`)."""
    parser.add_argument("--preset", choices=PRESETS, help="settings to start from (default: course)")
    group = parser.add_argument_group("settings that differ from the preset")
    for item in fields(Config):
        flag, text = "--" + item.name.replace("_", "-"), f"{item.metadata['help']} ({in_presets(item.name)})"
        if item.type is bool:
            group.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=text)
        else:
            kind = item.type if callable(item.type) else str
            group.add_argument(flag, type=kind, default=None, help=text, choices=item.metadata.get("choices"))


def in_presets(name: str) -> str:
    """Shows the values of a setting: "course 10, fast 6, tiny 1", or the one that all presets share."""
    values = {preset: getattr(config, name) for preset, config in PRESETS.items()}
    if len(set(values.values())) == 1:
        return f"default: {values['course']}"
    return ", ".join(f"{preset} {value}" for preset, value in values.items())


def config_from_flags(arguments: argparse.Namespace) -> Config:
    """Returns the preset with the changes that the flags ask for.

    Raises:
        ConfigError: if a value is out of its limits.
    """
    given = {item.name: getattr(arguments, item.name) for item in fields(Config)}
    changed = {name: value for name, value in given.items() if value is not None}
    return replace(PRESETS[arguments.preset or "course"], **changed)


def config_flags_in(arguments: argparse.Namespace) -> list[str]:
    """Returns the flags of settings that were given, `--preset` among them."""
    names = ["preset", *(item.name for item in fields(Config))]
    return ["--" + name.replace("_", "-") for name in names if getattr(arguments, name) is not None]
