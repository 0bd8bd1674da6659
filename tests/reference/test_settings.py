"""Settings files, the presets of other projects, what they need: shared embeddings, long pairs, the cache."""

from dataclasses import asdict, replace

import pytest
import torch

from given.building import build_model, embedding_tables
from given.config import PRESETS, Config
from given.experiment import Experiment
from given.run_folder import Checkpoint
from reference.__main__ import main
from reference.data import DataError, read_pairs

LINES = [
    f"{s} {v} .|||{t} {w} ."
    for s, t in (("je", "i"), ("tu", "you"), ("il", "he"), ("nous", "we"))
    for v, w in (("dors", "sleep"), ("mange", "eat"), ("chante", "sing"))
]
EXPECTED = {
    "course": {"d_model": 128, "n_heads": 4, "d_ff": 256, "n_layers": 2, "dropout": 0.2, "epochs": 10},
    "course-best": {"d_model": 256, "d_ff": 512, "n_layers": 4, "epochs": 50},
    "wmt14-de-en": {
        "d_model": 128, "n_heads": 8, "n_layers": 1, "d_ff": 512, "batch_size": 32, "max_length": 100,
        "most_tokens": 100, "max_steps": 30_000, "share_embeddings": True,
    },
    "pre-norm": {"d_model": 512, "n_heads": 8, "d_ff": 2048, "n_layers": 6, "norm_first": True},
    "opus-books-en-it": {
        "d_model": 512, "n_heads": 8, "d_ff": 2048, "n_layers": 6, "dropout": 0.1, "inner_dropout": 0.1,
        "learning_rate": 1e-4, "adam_epsilon": 1e-9, "batch_size": 8, "most_tokens": 350, "max_length": 350,
        "min_count": 2, "epochs": 20,
    },
}  # fmt: skip


@pytest.fixture
def corpus(tmp_path):
    """Flags of a small corpus."""
    (tmp_path / "train").write_text("\n".join([*LINES, "a " * 600 + "|||b"]) + "\n")
    (tmp_path / "dev").write_text("\n".join(LINES[:3]) + "\n")
    return ["--train", str(tmp_path / "train"), "--dev", str(tmp_path / "dev"), "--output", str(tmp_path / "run")]


@pytest.mark.parametrize("name", EXPECTED)
def test_presets_are_those_of_their_projects(name):
    assert EXPECTED[name].items() <= asdict(PRESETS[name]).items()
    if name == "pre-norm":
        assert PRESETS[name].weight_decay > 0 and PRESETS[name].max_grad_norm > 0


LARGE = [pytest.param(name, marks=pytest.mark.slow) for name in ("pre-norm", "opus-books-en-it", "course-best")]


@pytest.mark.parametrize("name", ["wmt14-de-en", *LARGE])
def test_presets_train_through_the_real_loading_code(corpus, tmp_path, name, capsys):
    sizes = ["--d-model", "16", "--d-ff", "16", "--max-steps", "2", "--max-length", "5", "--most-tokens", "100"]
    assert main(["train", *corpus, "--preset", name, *sizes, "--batch-size", "4", "--min-count", "1"]) == 0
    printed = capsys.readouterr().out
    assert "train: left out 1 pairs with more than 100 tokens on a side\n" in printed
    assert "12 training and 3 dev pairs of up to 3 and 3 tokens, " in printed
    saved = Checkpoint.load(tmp_path / "run" / "last.pt")
    assert (saved.step, saved.config.n_layers) == (2, PRESETS[name].n_layers)


def test_a_run_writes_its_settings_and_another_reads_them(corpus, tmp_path):
    own = tmp_path / "my.toml"
    own.write_text("d_model = 8\nmost_tokens = 100\nschedule = 'cosine'\n")
    flags = ["--preset", "tiny", "--d-ff", "12", "--max-steps", "1", "--adam-epsilon", "1e-9"]
    assert main(["train", *corpus, "--settings", str(own), *flags]) == 0
    expected = replace(
        PRESETS["tiny"], d_model=8, d_ff=12, max_steps=1, adam_epsilon=1e-9, most_tokens=100, schedule="cosine"
    )
    assert Checkpoint.load(tmp_path / "run" / "last.pt").config == expected
    written = tmp_path / "run" / "settings.toml"
    assert Config.from_dict(Config.settings_in(written)) == expected
    assert "# Adam's epsilon" in written.read_text()
    assert main(["train", *corpus[:-1], str(tmp_path / "again"), "--settings", str(written)]) == 0
    assert Checkpoint.load(tmp_path / "again" / "last.pt").config == expected


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_survives_its_file(tmp_path, preset):
    (tmp_path / "s.toml").write_text(PRESETS[preset].to_toml())
    assert Config.from_dict(Config.settings_in(tmp_path / "s.toml")) == PRESETS[preset]


@pytest.mark.parametrize(
    "text, message",
    [
        ("d_modle = 8\n", "s.toml: unknown setting 'd_modle'; did you mean 'd_model'?"),
        ("d_model = \n", "s.toml: Invalid value"),
        ("d_model = 'eight'\n", "d_model = 'eight': expected int"),
        (None, "s.toml: No such file or directory"),
    ],
)
def test_bad_settings_files_are_one_line(corpus, tmp_path, capsys, text, message):
    if text is not None:
        (tmp_path / "s.toml").write_text(text)
    assert main(["train", *corpus, "--settings", str(tmp_path / "s.toml")]) == 2
    printed = capsys.readouterr().err
    assert message in printed and printed.count("\n") == 1


def test_long_pairs_are_left_out_or_refused(tmp_path):
    path = tmp_path / "pairs"
    path.write_text("a b|||c\n" + "a " * 600 + "|||b\na|||b c d\n")
    assert read_pairs(path, 2) == [(["a", "b"], ["c"])]
    with pytest.raises(DataError, match=":2: a source of 600 tokens"):
        read_pairs(path)
    with pytest.raises(DataError, match="pairs: no pair has at most 1 tokens per side"):
        path.write_text("a b|||c\n")
        read_pairs(path, 1)


@pytest.mark.parametrize("tie_output", [False, True])
def test_both_languages_share_one_vocabulary_and_one_table(tmp_path, tie_output):
    config = replace(PRESETS["tiny"], share_embeddings=True, tie_output=tie_output, d_model=16, batch_size=4)
    pairs = [tuple(side.split() for side in line.split("|||")) for line in LINES]
    run = Experiment(config, pairs, pairs[:3])
    assert run.src_vocab is run.tgt_vocab and len(run.src_vocab) == 4 + 7 + 7 + 1
    model = run.model
    tables = {id(parameter) for parameter in embedding_tables(model)}
    assert len(tables) == 1 and model.src_embedding.table.weight is model.tgt_embedding.table.weight
    assert (model.output_projection.weight is model.tgt_embedding.table.weight) == tie_output
    run.run(tmp_path, progress=False)
    assert torch.equal(model.src_embedding.table.weight, model.tgt_embedding.table.weight)
    resumed = Experiment.resume(tmp_path / "last.pt", pairs, pairs[:3], longer={"epochs": 2})
    assert resumed.model.src_embedding.table.weight is resumed.model.tgt_embedding.table.weight
    resumed.run(tmp_path, progress=False)
    saved = Checkpoint.load(tmp_path / "last.pt")
    fresh = build_model(saved.config, len(saved.src_vocab), len(saved.tgt_vocab))
    saved.load_weights(fresh, "last.pt")
    assert torch.equal(fresh.src_embedding.table.weight, resumed.model.tgt_embedding.table.weight)


def test_dev_is_translated_with_the_cache_where_there_is_one(monkeypatch):
    pairs = [tuple(side.split() for side in line.split("|||")) for line in LINES]
    run = Experiment(replace(PRESETS["tiny"], max_length=6), pairs, pairs[:3])
    expected = run.translate_dev()
    calls = []
    monkeypatch.setattr("reference.decode.greedy_decode", lambda *a, **k: calls.append(a) or [[]] * 3)
    assert run.translate_dev() == expected and not calls
    monkeypatch.setattr("given.decoding.find_cached_search", lambda *arguments: None)
    assert run.translate_dev() == ["", "", ""] and len(calls) == 1
