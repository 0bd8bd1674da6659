"""`python -m reference` as its user types it: what it prints, keeps and draws, and one line for each mistake."""

import io
import shlex
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest
import torch
from PIL import Image

from data.__main__ import main as data
from given.command_line import main
from given.drawing import catch
from given.experiment import Experiment
from given.extras.raw_text import load_tokenizer, split_text
from given.pictures import plot_history, plot_matrices
from given.run_folder import Checkpoint
from reference import attention, model
from reference.masks import causal_mask
from reference.vocab import join_subwords

from .conftest import DEV, PAIRS, REFERENCE, call, corpus_flags

SIZES = ["--preset", "tiny", "--d-model", "16", "--max-length", "9", "--batch-size", "4"]
FLAGS = ["--epochs", "3", "--diagonal-width", "2", "--accumulate", "2", "--label-smoothing", "0.3", "--keep-epochs"]
SHOWN = ["--samples", "4", "--attention-through-time", "elle dort .|||she sleeps"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with `train`, `dev` and a run that has kept its three epochs; and what the command has printed."""
    folder = tmp_path_factory.mktemp("trained")
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        call("train", *corpus_flags(folder), *SIZES, *FLAGS, *SHOWN)
    return folder, out.getvalue().splitlines(), err.getvalue()


@pytest.fixture
def folder(trained):
    return trained[0]


@pytest.fixture
def run(folder, tmp_path):
    """A copy of the run, which a test may change."""
    return shutil.copytree(folder / "run", tmp_path / "run")


def samples_in(lines):
    return [line.strip() for line in lines if line.startswith("    ")]


def test_vocabularies_and_parameters_are_shown_first_and_the_next_command_last(trained, tmp_path, monkeypatch):
    folder, lines, _ = trained
    assert lines[0].startswith("15 training and 4 dev pairs of up to 4 and 4 tokens, vocabularies 15 and 14, ")
    weights = Checkpoint.load(REFERENCE, folder / "run/last.pt").weights.values()
    assert lines[0].endswith(f", {sum(weight.numel() for weight in weights):,} parameters")
    assert lines[-1].startswith("next: python -m reference translate --checkpoint ")
    monkeypatch.chdir(tmp_path)
    call(*shlex.split(lines[-1])[4:], "--input", folder / "dev")
    assert (tmp_path / "reference/translations.txt").read_text().count("\n") == 4


def test_the_bar_has_the_loss_and_its_average(trained):
    assert "avg_loss=" in trained[2]


def test_accumulation_and_smoothing_are_flags(folder):
    saved = Checkpoint.load(REFERENCE, folder / "run/last.pt")
    assert saved.step == 3 * 2  # four batches of four or three sentences, two of them a step
    assert Experiment(REFERENCE, saved.config, PAIRS, DEV).criterion.label_smoothing == 0.3


def test_a_run_goes_on_from_a_kept_epoch(folder, run, capsys):
    """In its own folder: what was trained later is trained again, to the last bit."""
    (run / "last.pt").unlink()
    flags = ["train", "--output", run, "--resume"]
    call(*flags, "--from", "epoch-02", "--keep-epochs")
    call(*flags, *SIZES, *FLAGS)  # what the run has anyway may be said again
    assert "the run is finished; a higher --epochs or --max-steps" in capsys.readouterr().out
    for path in (folder / "run").glob("*.pt"):
        whole, again = (Checkpoint.load(REFERENCE, place) for place in (path, run / path.name))
        states = [[*saved.weights.values(), *saved.rng_states.values()] for saved in (whole, again)]
        assert all(torch.equal(mine, theirs) for mine, theirs in zip(*states, strict=True)), path
        assert [line["dev_loss"] for line in whole.history] == [line["dev_loss"] for line in again.history]


def test_samples_are_drawn_at_random_and_may_keep_their_marks(trained, run, capsys):
    pairs = {join_subwords(source): join_subwords(target) for source, target in PAIRS}
    samples = samples_in(trained[1])
    assert len(samples) == 3 * 3 * 4
    for source, translation, reference in zip(*(samples[n::3] for n in range(3)), strict=True):
        assert translation.startswith("->") and reference == f"== {pairs[source]}"
    call("train", "--output", run, "--resume", "--epochs", 9, "--samples", 2, "--sample-marks")
    drawn = samples_in(capsys.readouterr().out.splitlines())
    assert len(drawn) == 6 * 3 * 2 and len({tuple(drawn[n : n + 6 : 3]) for n in range(0, 36, 6)}) > 1
    assert any("man@@ ge" in line for line in drawn) and not any("@@" in line for line in samples)


def test_training_may_end_with_test_translations(folder, run, tmp_path):
    (tmp_path / "test").write_text("je dors .\nnous man@@ ge .\n")
    given, default, own = tmp_path / "out" / "t.txt", run / "translations.txt", tmp_path / "t"
    finished = ["train", "--output", run, "--resume", "--test-file", tmp_path / "test"]
    call(*finished, "--out-file", given)
    call(*finished)
    call("translate", "--checkpoint", run / "best.pt", "--input", tmp_path / "test", "--output", own)
    assert given.read_text() == default.read_text() == own.read_text()


def test_runs_are_compared_by_what_differs(folder, tmp_path, capsys):
    other = tmp_path / "other"
    files = ["--train", folder / "train", "--dev", folder / "dev", "--output", other]
    call("train", *files, *SIZES, *FLAGS[2:], "--epochs", 1)
    (tmp_path / "begun").mkdir()
    folders = [str(folder / "run"), str(other)]
    capsys.readouterr()
    call("compare", *folders, tmp_path / "begun")
    out, err = capsys.readouterr()
    assert err.startswith(f"note: nothing to compare in {tmp_path / 'begun'}: ") and err.count("\n") == 1
    lines = out.splitlines()
    head, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert head[:2] == ["run", "epochs"], "what is the same everywhere is left out"
    assert {row[0]: row[1] for row in rows} == {folders[0]: "3", folders[1]: "1"}
    scores = [float(row[head.index("dev_bleu")]) for row in rows]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["train", "--train", "nowhere"], "nowhere: No such file"),
        (["train", "--test-file", "nowhere"], "nowhere: No such file"),
        (["train", "--out-file", "x"], "has no effect without --test-file"),
        (["train", "--corpus", "nowhere"], "nowhere: expected one file train.bpe or train.words; found no such file"),
        (["train", "--d-model", "18"], "ValueError: d_model = 18 is not a multiple of n_heads = 4"),
        (["train", "--dropout", "1.5"], "dropout = 1.5: expected between 0 and 1"),
        (["train", "--epochs", "-1"], "epochs = -1: expected at least 1"),
        (["train", "--diagonal-random", "0.5"], "diagonal_random = 0.5 has no effect with diagonal_width = 0"),
        (["train", "--epochs", "2", "--max-steps", "3"], "--epochs 2 has no effect: max_steps = 3 counts in its place"),
        (["train", "--device", "nosuch"], "--device nosuch: it cannot be used here: "),
        (["train", "--resume", "--dropout", "0.3"], "--resume keeps the settings of the run but its length; leave out"),
        (["train", "--resume", "--preset", "tiny"], "but its length; leave out --preset\n"),
        (["train", "--resume", "--no-cached"], "but its length; leave out --no-cached\n"),
        (["train", "--from", "epoch-09"], "--from epoch-09: {folder}/run has best, epoch-01, epoch-02, epoch-03, last"),
        (["train", "--from", "epoch-02", "--max-steps", "2"], "has 4 steps already, more than the 2"),
        (["train", "--output", "{folder}/dev"], "{folder}/dev: Not a directory"),
        (["train", "--attention-through-time", "elle ."], "'elle .' is not a source of the training or dev pairs: add"),
        (["train", "--test-file", "{folder}/long"], "{folder}/long:2: a source of 600 tokens, expected at most 512"),
        (["translate", "--output", "{folder}"], "{folder}: Is a directory"),
        (["translate", "--checkpoint", "nowhere"], "nowhere: no such file; `train` writes it"),
        (["translate", "--checkpoint", "{folder}/run"], "/run: is a folder; name a checkpoint in it, such as {folder}"),
        (["translate", "--length-penalty", "0.5"], "--length-penalty 0.5 has no effect without --beam-size of 2"),
        (["compare", "nowhere", "."], "nothing to compare in nowhere, .: expected folders in which `train`"),
        (["attention", "--sentence", "je " * 600], "--sentence: a source of 600 tokens, expected at most 512"),
        (["attention", "--sentence", "je", "--output", "a.gif"], "a.gif: expected a name that ends in .png, .svg"),
        (["attention", "--sentence", "je dors .", "--layer", "2"], "--layer 2: expected 1"),
        (["attention", "--sentence", "je dors .", "--matrices", "--head", "5"], "--head 5: expected 1 to 4"),
        (["attention", "--sentence", "je dors .", "--head", "2"], "--head 2 has no effect without --matrices"),
        (["attention", "--through-time", "runs/latest", "--matrices"], "--matrices needs --sentence"),
        (["attention"], "one of --sentence and --through-time is needed"),
    ],
)
def test_mistakes_get_one_line_and_status_2(arguments, message, capsys, folder, monkeypatch):
    (folder / "long").write_text("je dors|||i sleep\n" + "je " * 600 + "|||i sleep\n")
    files = {"train": ("train", "dev", "output"), "translate": ("checkpoint", "input"), "attention": ("checkpoint",)}
    ours = {"checkpoint": "run/best.pt", "input": "train", "output": "run"}
    given = [argument.format(folder=folder) for argument in arguments]
    for flag in files.get(arguments[0], ()):
        if f"--{flag}" not in given:
            given += [f"--{flag}", str(folder / ours.get(flag, flag))]
    work = {"train": "reference.train.train_epoch", "translate": "given.decoding.translate"}
    if arguments[0] in work:
        monkeypatch.setattr(work[arguments[0]], lambda *inputs, **options: pytest.fail("the work was begun"))
    before = {path: path.read_bytes() for path in (folder / "run").iterdir()}
    call(*given, status=2)
    printed = capsys.readouterr().err
    assert message.format(folder=folder) in printed and printed.count("\n") == 1
    assert {path: path.read_bytes() for path in (folder / "run").iterdir()} == before


def test_a_preset_that_needs_an_extension_names_the_flag_that_does_without(folder, monkeypatch, capsys):
    def unwritten(*sizes):
        raise NotImplementedError("TODO E.2")

    monkeypatch.setattr(model, "Transformer", unwritten)
    files = ["--train", folder / "train", "--dev", folder / "dev", "--output", folder / "other"]
    call("train", *files, "--preset", "quick", status=1)
    assert capsys.readouterr().err.endswith("; --no-norm-first trains preset quick without it\n")


def test_auto_says_which_device_it_chose(folder, capsys):
    files = ["--checkpoint", folder / "run/best.pt", "--input", folder / "dev", "--output", "-"]
    call("translate", *files, "--device", "auto")
    printed = capsys.readouterr()
    assert printed.err.startswith("device: ") and "device: " not in printed.out


def test_who_stops_training_is_told_how_to_resume(folder, tmp_path, monkeypatch, capsys):
    run_epoch = Experiment.run_epoch

    def stop(experiment, *arguments):
        if len(experiment.history) == 1:
            raise KeyboardInterrupt
        return run_epoch(experiment, *arguments)

    files = ["--train", folder / "train", "--dev", folder / "dev", "--output", tmp_path / "run"]
    with monkeypatch.context() as patch:
        patch.setattr(Experiment, "run_epoch", stop)
        call("train", *files, *SIZES, "--epochs", 2, status=130)
    assert capsys.readouterr().err.endswith("reference: stopped; --resume, with the same --output, goes on\n")
    call("train", "--resume", "--output", tmp_path / "run")  # the run remembers its files
    assert len(Checkpoint.load(REFERENCE, tmp_path / "run" / "last.pt").history) == 2


@pytest.mark.slow
def test_attention_draws_all_layers_and_matrices(folder, tmp_path, capsys):
    before = attention.scaled_dot_product_attention
    command = ["attention", "--checkpoint", folder / "run/best.pt", "--sentence", "je dors ."]
    everything, matrices, picture = ["--layer", "all"], ["--matrices", "--head", "2"], tmp_path / "a.svg"
    some = [("encoder", everything), ("cross", everything), ("decoder", matrices), ("cross", matrices)]
    for kind, more in [*some, ("encoder", ["--layer", "1"])]:
        call(*command, "--kind", kind, *more, "--output", picture)
        assert picture.stat().st_size > 5000
        picture.unlink()
    out = capsys.readouterr().out
    assert "encoder attention, all layers: " in out and "cross attention, layer 1, head 2: " in out
    assert attention.scaled_dot_product_attention is before, "what was caught is let go"


@pytest.mark.slow
def test_a_page_and_an_animation_are_drawn_from_a_run(folder, tmp_path, capsys):
    for name in ("page.png", "moving.gif"):
        call("attention", "--through-time", folder / "run", "--kind", "encoder", "--output", tmp_path / name)
    with Image.open(tmp_path / "moving.gif") as picture:
        durations = []
        for frame in range(picture.n_frames):
            picture.seek(frame)
            durations.append(picture.info["duration"])
    assert len(durations) >= 3 and sum(durations) > 2000
    with Image.open(tmp_path / "page.png") as picture:
        assert picture.width > 300
    assert "encoder attention, layer 1, 4 times" in capsys.readouterr().out


def test_every_panel_names_its_shape_and_what_the_mask_excludes_is_grey():
    query, key, value = torch.randn(3, 1, 1, 3, 4)
    caught = catch(attention.scaled_dot_product_attention, query, key, value, causal_mask(3)).of_head(0)
    figure = plot_matrices(caught, ["a", "b", "c"], ["d", "e", "f"], "one head")
    assert [axes.get_title() for axes in figure.axes[:6]] == [
        "Q: (q, d_k) = (3, 4)",
        "K: (k, d_k) = (3, 4)",
        "V: (k, d_k) = (3, 4)",
        "scores: (q, k) = (3, 3)",
        "weights: (q, k) = (3, 3)",
        "context: (q, d_k) = (3, 4)",
    ]
    scores = figure.axes[3]
    assert scores.images[0].get_array().mask.sum() == 3 and len(scores.texts) == 6
    assert len(figure.axes[4].texts) == 9


def test_the_scores_are_the_formulas_whatever_a_function_returns():
    query, key = torch.randn(2, 1, 2, 3, 4)
    scores = catch(lambda *given: given[:2], query, key, key, causal_mask(3)).scores
    assert torch.allclose(scores.tril(), (query @ key.mT / 2).double().tril()) and scores.isinf().sum() == 6


def test_a_history_is_drawn_by_epoch_with_the_thresholds():
    lines = [{"epoch": n, "train_loss": 4.0 - n, "dev_loss": 5.0 - n, "dev_bleu": n / 10} for n in (1, 2)]
    loss, bleu = plot_history(lines, {"beginner": 0.3}).axes
    train, dev = ({"label": line.get_label(), "y": [*line.get_ydata()]} for line in loss.lines)
    assert (train, dev) == ({"label": "train loss", "y": [3, 2]}, {"label": "dev loss", "y": [4, 3]})
    curve, threshold = ([*line.get_ydata()] for line in bleu.lines)
    assert curve == [0.1, 0.2] and {*threshold} == {0.3} and bleu.texts[0].get_text() == "beginner 0.30"


SENTENCES = [
    (f"{subject} {verb}.", f"{other} {action}.")
    for subject, other in (("Ich", "I"), ("Du", "You"), ("Wir", "We"))
    for verb, action in (("esse", "eat"), ("schlafe", "sleep"), ("lese", "read"))
]


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    """A trained model, small but good at its nine sentences, with its tokenizers."""
    folder = tmp_path_factory.mktemp("run")
    pairs, corpus = folder / "pairs", folder / "corpus"
    pairs.write_text("".join(f"{german}\t{english}\n" for german, english in SENTENCES))
    options = ["--languages", "de", "en", "--dev", "0", "--test", "0", "--vocabulary", "60"]
    assert data(["prepare", "--pairs", str(pairs), "--output", str(corpus), *options]) == 0
    shutil.copy(corpus / "train.bpe", corpus / "dev.bpe")
    length = ["--max-steps", 150, "--report-every", 150]
    flags = ["--preset", "tiny", "--batch-size", 9, "--learning-rate", 5e-3, "--dropout", 0]
    call("train", "--corpus", corpus, "--output", folder, *flags, *length)
    return folder


def translate(folder, lines, *flags, name="text.txt"):
    """Runs the command on a file; returns what it wrote: words and signs."""
    (folder / name).write_text("".join(line + "\n" for line in lines))
    files = ["--checkpoint", folder / "best.pt", "--input", folder / name, "--output", folder / "out"]
    call("translate", *files, *flags)
    return (folder / "out").read_text().splitlines()


def test_raw_text_is_cut_and_tokens_stay_tokens(german, tmp_path):
    assert translate(german, ["Ich esse.", "", "  ", "Du lese."]) == ["I eat .", "", "", "You read ."]
    tokens = [" ".join(split_text(load_tokenizer(german), text, "@@")) for text in ("Ich esse.", "Du schlafe.")]
    lines = [tokens[0], f"{tokens[1]}|||You sleep ."]
    assert translate(german, lines, name="test.bpe") == ["I eat .", "You sleep ."], "a corpus' file has tokens"
    shutil.copy(german / "best.pt", tmp_path)
    assert translate(tmp_path, lines) == ["I eat .", "You sleep ."], "without tokenizers there is nothing else"


def test_every_search_translates_the_same(german):
    lines = ["Ich lese.", "", "Wir esse."]
    for flags in ([], ["--no-cached"], ["--beam-size", "3"], ["--beam-size", "3", "--no-cached"]):
        assert translate(german, lines, *flags) == ["I read .", "", "We eat ."]
    assert translate(german, lines, "--max-length", "2") == ["I read", "", "We eat"]


def test_standard_streams(german, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("Ich esse.\n\nDu lese."))
    command = ["translate", "--checkpoint", german / "best.pt", "--input"]
    call(*command, "-")
    assert capsys.readouterr() == ("I eat .\n\nYou read .\n", "")
    (tmp_path / "text.txt").write_text("Ich esse.\n")
    call(*command, tmp_path / "text.txt", "--output", "-")
    assert capsys.readouterr() == ("I eat .\n", "")


def test_a_wrong_command_line_ends_no_notebook(capsys) -> None:
    """Which calls `main`, and would show a SystemExit as a failure with a warning."""
    for words, status in (("attention --sentence", 2), ("paint", 2), ("train --help", 0)):
        assert main("reference", words.split()) == status
        out, err = capsys.readouterr()
        assert "usage: " in out if status == 0 else err.count("\n") == 1 and "(--help shows an example)" in err
