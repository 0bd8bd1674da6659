"""Settings: presets, flags, files."""

import argparse
import json
import re
import tomllib
from dataclasses import asdict, fields, replace

import pytest

from given.config import PRESETS, Config, ConfigError, add_config_flags, config_from_flags
from given.run_folder import Checkpoint
from reference.__main__ import main

from .conftest import REFERENCE, corpus_flags

EXPECTED = {
    "course": {"d_model": 128, "n_heads": 4, "d_ff": 256, "n_layers": 2, "dropout": 0.2, "epochs": 10},
    "course-best": {"d_model": 256, "d_ff": 512, "n_layers": 4, "epochs": 50},
    "wmt14-de-en": {
        "d_model": 128, "n_heads": 8, "n_layers": 1, "d_ff": 512, "batch_size": 32, "max_length": 100,
        "most_tokens": 100, "max_steps": 30_000, "share_embeddings": True,
    },
    "pre-norm": {"d_model": 512, "n_heads": 8, "d_ff": 2048, "n_layers": 6, "norm_first": True, "weight_decay": 0.01},
    "opus-books-en-it": {
        "d_model": 512, "n_heads": 8, "d_ff": 2048, "n_layers": 6, "dropout": 0.1, "inner_dropout": 0.1,
        "learning_rate": 1e-4, "adam_epsilon": 1e-9, "batch_size": 8, "most_tokens": 350, "max_length": 350,
        "min_count": 2, "epochs": 20,
    },
}  # fmt: skip


@pytest.fixture
def parser():
    made = argparse.ArgumentParser()
    add_config_flags(made)
    return made


@pytest.mark.parametrize("name", EXPECTED)
def test_presets_are_those_of_their_projects(name):
    assert EXPECTED[name].items() <= asdict(PRESETS[name]).items()


LARGE = [pytest.param(name, marks=pytest.mark.slow) for name in ("pre-norm", "opus-books-en-it", "course-best")]


@pytest.mark.parametrize("name", ["wmt14-de-en", *LARGE])
def test_presets_train_through_the_real_loading_code(tmp_path, name, capsys):
    files = corpus_flags(tmp_path)
    with (tmp_path / "train").open("a") as file:
        file.write("a " * 600 + "|||b\n")
    sizes = ["--d-model", "16", "--d-ff", "16", "--max-steps", "2", "--max-length", "5", "--most-tokens", "100"]
    assert main(["train", *files, "--preset", name, *sizes, "--batch-size", "4", "--min-count", "1"]) == 0
    printed = capsys.readouterr().out
    assert "train: left out 1 of 16 pairs, with more than 100 tokens on a side\n" in printed
    assert "15 training and 4 dev pairs of up to 4 and 4 tokens, " in printed
    saved = Checkpoint.load(REFERENCE, tmp_path / "run" / "last.pt")
    assert (saved.step, saved.config.n_layers) == (2, PRESETS[name].n_layers)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"d_modle": 8}, "unknown setting 'd_modle'; `train --help` lists them"),
        ({"d_model": "8"}, "d_model = '8': expected int"),
        ({"d_model": 10}, "d_model = 10 is not a multiple of n_heads = 4"),
        ({"dropout": 1.5}, "dropout = 1.5: expected between 0 and 1"),
        ({"epochs": -1}, "epochs = -1: expected at least 1"),
        ({"diagonal_random": 0.5}, "diagonal_random = 0.5 has no effect with diagonal_width = 0"),
        ({"schedule": "square"}, "schedule = 'square': expected one of constant, inverse_sqrt, cosine, linear"),
    ],
)
def test_bad_settings_say_what_would_be_right_and_in_which_file(parser, settings, message, tmp_path):
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}"):
        Config.from_dict(settings)
    (tmp_path / "my.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()))
    with pytest.raises(ConfigError, match=re.escape(f"my.toml: {message}")):
        config_from_flags(parser.parse_args(["--settings", str(tmp_path / "my.toml")]))


def test_every_setting_has_a_flag_and_every_flag_a_setting(parser):
    flags = {action.dest for action in parser._actions} - {"help", "preset", "settings"}
    assert flags == {item.name for item in fields(Config)}
    options = parser.parse_args(["--preset", "fast", "--d-model", "64", "--no-norm-first"])
    assert config_from_flags(parser.parse_args([])) == PRESETS["course"]
    assert config_from_flags(options) == replace(PRESETS["fast"], d_model=64, norm_first=False)


def test_a_run_writes_its_settings_and_another_reads_them(tmp_path):
    files, own = corpus_flags(tmp_path), tmp_path / "my.toml"
    own.write_text("d_model = 8\nmost_tokens = 100\nschedule = 'cosine'\n")
    flags = ["--preset", "tiny", "--d-ff", "12", "--max-steps", "1", "--adam-epsilon", "1e-9"]
    assert main(["train", *files, "--settings", str(own), *flags]) == 0
    changes = {"d_model": 8, "d_ff": 12, "max_steps": 1, "adam_epsilon": 1e-9, "most_tokens": 100, "schedule": "cosine"}
    expected = replace(PRESETS["tiny"], **changes)
    assert Checkpoint.load(REFERENCE, tmp_path / "run" / "last.pt").config == expected
    written = tmp_path / "run" / "settings.toml"
    assert Config.from_dict(tomllib.loads(written.read_text())) == expected
    assert main(["train", *files[:-1], str(tmp_path / "again"), "--settings", str(written)]) == 0
    assert Checkpoint.load(REFERENCE, tmp_path / "again" / "last.pt").config == expected
