"""The flags of the settings: one for each field of `Config`, `--preset` and `--settings`."""

import argparse
from dataclasses import fields
from pathlib import Path

from ..running.config import PRESETS, Config


def add_config_flags(parser: argparse.ArgumentParser) -> None:
    """Adds `--preset`, `--settings` and a flag for each setting (`d_model` -> `--d-model`)."""
    parser.add_argument(
        "--preset",
        choices=PRESETS,
        help="settings to start from; `quick` and `best` need the reference (default: course)",
    )
    text = "more settings, in TOML; a run writes its own to settings.toml in its folder"
    parser.add_argument("--settings", type=Path, metavar="FILE", help=text)
    group = parser.add_argument_group("settings that differ from the preset and the file")
    for item in fields(Config):
        flag, text = "--" + item.name.replace("_", "-"), f"{item.metadata['help']} ({in_presets(item.name)})"
        if item.type is bool:
            group.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=text)
        else:
            kind = item.type if callable(item.type) else str
            group.add_argument(flag, type=kind, default=None, help=text, choices=item.metadata.get("choices"))


def in_presets(name: str) -> str:
    """Shows the values of a setting: "default: 10; tiny 1", with the presets that have another one."""
    values = {preset: getattr(config, name) for preset, config in PRESETS.items()}
    others = [f"{preset} {value}" for preset, value in values.items() if value != values["course"]]
    return f"default: {values['course']}" + (f"; {', '.join(others)}" if others else "")


def config_from_flags(arguments: argparse.Namespace) -> Config:
    """Returns the preset with the changes of the settings file, and then those of the flags.

    Raises:
        ConfigError: if a setting is unknown or out of its limits.
    """
    settings = PRESETS[arguments.preset or "course"].to_dict()
    if arguments.settings:
        settings |= Config.settings_in(arguments.settings)
    given = {item.name: getattr(arguments, item.name) for item in fields(Config)}
    return Config.from_dict(settings | {name: value for name, value in given.items() if value is not None})


def config_flags_in(arguments: argparse.Namespace) -> list[str]:
    """Returns the flags of settings that were given, `--preset` among them."""
    names = ["preset", "settings", *(item.name for item in fields(Config))]
    return ["--" + name.replace("_", "-") for name in names if getattr(arguments, name) is not None]
