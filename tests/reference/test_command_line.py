"""`python -m reference` as its user types it."""

import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from given.command_line import make_parser
from given.experiment import Experiment
from given.run_folder import Checkpoint
from given.runs import read_run
from reference.__main__ import main

LINES = [
    f"{s} {v} .|||{t} {w} ."
    for s, t in (("je", "i"), ("tu", "you"), ("il", "he"), ("nous", "we"))
    for v, w in (("man@@ ge", "eat"), ("dors", "sleep"), ("par@@ le", "sp@@ eak"))
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    (folder / "train").write_text("\n".join(LINES) + "\n")
    (folder / "dev").write_text("\n".join(LINES[:4]) + "\n")
    files = ["--train", str(folder / "train"), "--dev", str(folder / "dev"), "--output", str(folder / "out")]
    sizes = ["--preset", "tiny", "--d-model", "16", "--epochs", "2", "--batch-size", "4", "--diagonal-width", "2"]
    assert main(["train", *files, *sizes]) == 0
    return folder


def test_translate(trained):
    (trained / "src").write_text("je dors .\n\nnous unseen .\n")
    checkpoint = ["--checkpoint", str(trained / "out/best.pt"), "--input", str(trained / "src")]
    results = []
    for extra in ([], ["--cached"], ["--no-cached"], ["--beam-size", "3"], ["--beam-size", "3", "--no-cached"]):
        assert main(["translate", *checkpoint, "--output", str(trained / "t.txt"), *extra]) == 0
        results.append((trained / "t.txt").read_text())
        assert results[-1].count("\n") == 3
        assert "@@" not in results[-1]
        assert results[-1].split("\n")[1] == ""
    assert results[0] == results[1] == results[2] and results[3] == results[4]


def test_translations_go_to_a_redirected_output(trained, tmp_path):
    """What is in the file already stays."""
    model = ["--checkpoint", str(trained / "out/best.pt"), "--input", str(trained / "dev")]
    with (tmp_path / "log").open("w") as log:
        log.write("first\n")
        log.flush()
        before = os.dup(1)
        os.dup2(log.fileno(), 1)
        try:
            assert main(["translate", *model, "--output", "/dev/stdout"]) == 0
        finally:
            os.dup2(before, 1)
            os.close(before)
    assert main(["translate", *model, "--output", str(tmp_path / "t.txt")]) == 0
    assert (tmp_path / "log").read_text() == "first\n" + (tmp_path / "t.txt").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_attention_map(trained, kind):
    picture = trained / f"{kind}.png"
    arguments = ["--checkpoint", str(trained / "out/best.pt"), "--sentence", "je man@@ ge .", "--kind", kind]
    assert main(["attention", *arguments, "--output", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_runs_are_compared_by_what_differs(trained, capsys):
    corpus = ["--train", str(trained / "train"), "--dev", str(trained / "dev"), "--output", str(trained / "other")]
    assert main(["train", *corpus, "--preset", "tiny", "--d-model", "8", "--epochs", "1", "--batch-size", "4"]) == 0
    folders = [str(trained / "out"), str(trained / "other")]
    capsys.readouterr()
    assert main(["compare", *folders, "--json"]) == 0
    runs = {run["run"]: run for run in json.loads(capsys.readouterr().out)}
    assert [runs[folder]["settings"]["d_model"] for folder in folders] == [16, 8]
    assert [runs[folder]["epochs_done"] for folder in folders] == [2, 1]
    assert main(["compare", *folders]) == 0
    head, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert head[:4] == ["run", "d_model", "diagonal_width", "epochs"], "what is the same everywhere is left out"
    assert {row[0]: row[1:4] for row in rows} == {folders[0]: ["16", "2", "2"], folders[1]: ["8", "0", "1"]}
    scores = [float(row[head.index("dev_bleu")]) for row in rows]
    assert scores == sorted(scores, reverse=True) and set(scores) == {runs[folder]["dev_bleu"] for folder in folders}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["train", "--train", "nowhere"], "nowhere: No such file"),
        (["train", "--d-model", "30"], "d_model = 30 is not a multiple of n_heads = 4"),
        (["train", "--d-model", "1" + "0" * 12], "out of memory; a smaller model or --batch-size takes less"),
        (["train", "--dropout", "7"], "dropout = 7.0: expected between 0.0 and 1.0"),
        (
            ["train", "--resume", "--dropout", "0.3"],
            "--resume keeps the settings of the run but its length; leave out --dropout",
        ),
        (
            ["train", "--resume", "--preset", "fast"],
            "--resume keeps the settings of the run but its length; leave out --preset",
        ),
        (["train", "--corpus", "nowhere"], "--corpus has both splits; leave it out, or --train and --dev"),
        (["train", "--epochs", "2", "--max-steps", "3"], "--epochs 2 has no effect: max_steps = 3 counts in its place"),
        (["translate", "--n-best", "2", "--no-cached"], "--n-best needs the key/value cache; leave out --no-cached"),
        (
            ["translate", "--length-penalty", "1"],
            "--length-penalty 1.0 has no effect on greedy search: add",
        ),
        (["translate", "--n-best", "3", "--beam-size", "2"], "--n-best 3: more than --beam-size 2"),
        (["translate", "--n-best", "0"], "--n-best 0: expected at least 1"),
        (["translate", "--max-length", "600"], "max_length = 600: expected between 1 and 511"),
        (["translate", "--length-penalty", "inf"], "length_penalty = inf: expected between -10.0 and 10.0"),
        (["translate", "--beam-size", "2", "--length-penalty", "400"], "length_penalty = 400.0: expected between"),
        (["train", "--adam-beta2", "1.0"], "adam_beta2 = 1.0: expected a number below 1.0"),
        (["translate", "--beam-size", "1000000"], "beam_size = 1000000: expected between 1 and 100"),
        (["train", "--threads", "0"], "--threads 0: expected 1 to 1024"),
        (["train", "--device", "nosuch"], "--device nosuch: it cannot be used here: "),
        (["translate", "--device", "meta"], "--device meta: it cannot be used here: "),
        (["train", "--seed", "9" * 20], f"seed = {'9' * 20}: expected between 0 and {2**64 - 1}"),
        (["train", "--learning-rate", "inf"], "learning_rate = inf: expected a finite number"),
        (["train", "--diagonal-random", "0.5"], "diagonal_random = 0.5 has no effect with diagonal_width = 0"),
        (["train", "--output", "{folder}/dev"], "{folder}/dev: Not a directory"),
        (["train", "--output", "{folder}/dev/run"], "{folder}/dev/run: Not a directory"),
        (["train", "--dev", "{folder}/long"], "{folder}/long:2: a source of 600 tokens, expected at most 512"),
        (["translate", "--input", "{folder}/empty"], "{folder}/empty: the file is empty"),
        (["translate", "--output", "{folder}/dev/t.txt"], "{folder}/dev: Not a directory"),
        (["translate", "--output", "{folder}"], "{folder}: Is a directory"),
        (["attention", "--sentence", "je " * 600], "--sentence: a source of 600 tokens, expected at most 512"),
        (["attention", "--sentence", "je", "--target", "i " * 512], "--target: a target of 512 tokens, expected at"),
        (["attention", "--sentence", "je", "--output", "a.foo"], "a.foo: expected a name that ends in .png, .svg"),
        (["attention", "--sentence", "je", "--head", "2"], "--head 2 has no effect without --matrices"),
        (["attention", "--through-time", "{folder}/out", "--target", "i"], "no effect with --through-time"),
        (["attention", "--sentence", "je", "--matrices", "--layer", "all"], "--layer all: with --matrices, name one"),
        (["attention", "--through-time", "{folder}/out", "--layer", "all"], "--layer all: with --through-time, name"),
        (["align", "--line", "3"], "--line 3 has no effect without --output"),
        (["compare", "nowhere"], "nowhere: no last.pt, so there is no run to compare"),
        (["translate", "--checkpoint", "nowhere.pt"], "nowhere.pt: No such file or directory; `train` writes it"),
    ],
)
def test_mistakes_get_one_line_and_status_2(arguments, message, capsys, trained, monkeypatch):
    (trained / "empty").touch()
    (trained / "long").write_text("je dors|||i sleep\n" + "je " * 600 + "|||i sleep\n")
    files = {"train": ("train", "dev"), "translate": ("checkpoint", "input"), "attention": ("checkpoint",)}
    ours = {"checkpoint": "out/best.pt", "input": "train"}
    given = [argument.format(folder=trained) for argument in arguments]
    for flag in files.get(arguments[0], ()):
        if f"--{flag}" not in given:
            given += [f"--{flag}", str(trained / ours.get(flag, flag))]
    for function in ("reference.train.train_epoch", "given.translating.decode_all"):
        monkeypatch.setattr(function, lambda *arguments, **options: pytest.fail("the work was begun"))
    assert main(given) == 2
    printed = capsys.readouterr().err
    assert message.format(folder=trained) in printed
    assert printed.count("\n") == 1


def test_a_run_that_cannot_begin_leaves_nothing_behind(trained, tmp_path, capsys):
    place = ["--dev", str(trained / "dev"), "--output", str(tmp_path / "run")]
    test = ["--test-file", str(trained / "dev"), "--out-file", str(tmp_path / "out" / "t.txt")]
    assert main(["train", "--train", str(tmp_path / "nowhere"), *place, *test]) == 2
    assert not list(tmp_path.iterdir())


def test_runs_that_have_saved_nothing_are_left_out(trained, tmp_path, capsys):
    begun, unreported = tmp_path / "begun", tmp_path / "unreported"
    begun.mkdir()
    shutil.copytree(trained / "out", unreported)
    replace(Checkpoint.load(unreported / "last.pt"), history=[]).save(unreported / "last.pt")
    capsys.readouterr()
    assert main(["compare", str(begun), str(unreported), str(trained / "out")]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("\n") == 3 and str(trained / "out") in printed.out
    assert printed.err.splitlines() == [
        f"note: {begun}: no last.pt, so there is no run to compare",
        f"note: {unreported}: no report yet, so there is nothing to compare",
    ]
    assert main(["compare", str(unreported)]) == 2
    files = ["--train", str(trained / "train"), "--dev", str(trained / "dev"), "--output", str(unreported)]
    assert main(["train", *files, "--resume", "--from", "last"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"reference: {unreported}: no report yet, so there is nothing to compare",
        f"reference: --from last: {unreported / 'last.pt'} has no report yet; --resume alone goes on from last.pt",
    ]


@pytest.mark.parametrize("stream, status, message", [(None, 0, ""), ("/dev/full", 2, "No space left on device")])
def test_output_that_nobody_reads_or_nothing_takes(trained, stream, status, message):
    command = [sys.executable, "-m", "reference", "compare", str(trained / "out")]
    read, write = os.pipe()
    os.close(read)
    target = write if stream is None else os.open(stream, os.O_WRONLY)
    done = subprocess.run(command, stdout=target, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    for descriptor in {write, target}:
        os.close(descriptor)
    assert (done.returncode, done.stderr) == (status, f"reference: {message}\n" if message else "")


@pytest.mark.parametrize("command", ["train", "compare", "translate", "attention"])
def test_help_has_an_example(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    assert f"example: python -m reference {command}" in capsys.readouterr().out


def test_auto_says_which_device_it_chose(trained, capsys):
    arguments = ["--checkpoint", str(trained / "out/best.pt"), "--input", str(trained / "dev")]
    assert main(["translate", *arguments, "--output", "-", "--device", "auto"]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("device: ") and "device: " not in printed.out


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_no_damaged_checkpoint(trained, capsys):
    for command in (["translate", "--checkpoint", str(trained / "out/best.pt")], ["train", "--resume"]):
        assert main([*command, "--device", "cuda"]) == 2
        assert capsys.readouterr().err.startswith("reference: --device cuda: it cannot be used here: ")


def test_a_console_without_the_letter_is_no_reason_to_stop(monkeypatch):
    console = io.TextIOWrapper(io.BytesIO(), encoding="cp437")
    monkeypatch.setattr(sys, "stdout", console)
    with pytest.raises(SystemExit, match="0"):
        main(["train", "--help"])
    console.flush()
    assert b"cpu, cuda, mps, \\u2026" in console.buffer.getvalue()


def test_who_stops_training_is_told_how_to_resume(trained, tmp_path, monkeypatch, capsys):
    run_epoch, n_epochs = Experiment.run_epoch, 0

    def stop(run, *arguments):
        if len(run.history) == n_epochs:
            raise KeyboardInterrupt
        return run_epoch(run, *arguments)

    monkeypatch.setattr(Experiment, "run_epoch", stop)
    corpus = ["--train", str(trained / "train"), "--dev", str(trained / "dev")]
    output, keep = ["--output", str(tmp_path / "my run")], ["--keep-epochs", "--device", "cpu:0"]
    train = ["train", *corpus, *output, *keep, "--preset", "tiny", "--epochs", "3"]
    assert main(train) == 130
    assert capsys.readouterr().err == "\nreference: stopped\n"
    n_epochs = 1
    assert main(train) == 130
    advice = capsys.readouterr().err.partition("stopped; resume with: ")[2]
    words = shlex.split(advice)
    assert words == ["python", "-m", "reference", "train", "--resume", *output, *corpus, *keep]
    assert vars(make_parser().parse_args(words[3:]))["device"] == "cpu:0"
    n_epochs = 2
    assert main(words[3:]) == 130
    assert capsys.readouterr().err.endswith(advice)
    assert Checkpoint.load(tmp_path / "my run" / "last.pt").epoch == 2
    n_epochs = 0
    assert main(train) == 130
    assert capsys.readouterr().err == "\nreference: stopped\n", "what is there is an older run, not this one"


def test_text_that_the_checkpoint_does_not_know_is_noted(trained, tmp_path, capsys):
    (tmp_path / "src").write_text("je dors .\nel@@ le mange rien\n")
    files = ["--checkpoint", str(trained / "out/best.pt"), "--output", str(tmp_path / "t.png")]
    note = "of the tokens are not in the checkpoint's vocabulary; is the text from another corpus, or not split into"
    assert main(["translate", *files, "--input", str(tmp_path / "src")]) == 0
    assert f"reference: note: {tmp_path / 'src'}: 43% {note}" in capsys.readouterr().err
    assert main(["attention", *files, "--sentence", "je dors", "--target", r"$\bad$"]) == 0
    assert f"reference: note: --target: 100% {note}" in capsys.readouterr().err
    (tmp_path / "src").write_text("je dors bien .\n")
    assert main(["translate", *files, "--input", str(tmp_path / "src")]) == 0
    assert "vocabulary" not in capsys.readouterr().err


def test_medians_are_rounded(trained, monkeypatch):
    saved = Checkpoint.load(trained / "out/last.pt")
    for line, seconds in zip(saved.history, (2.3, 2.4), strict=True):
        line["seconds"] = seconds
    monkeypatch.setattr(Checkpoint, "load", lambda path: saved)
    assert read_run(trained / "out")["seconds_per_epoch"] == 2.35


@pytest.mark.slow
def test_attention_draws_all_layers_and_matrices(trained, capsys):
    command = ["attention", "--checkpoint", str(trained / "out/best.pt"), "--sentence", "je dors ."]
    everything, matrices = ["--layer", "all"], ["--matrices", "--head", "2"]
    some = [("encoder", everything), ("cross", everything), ("decoder", matrices), ("cross", matrices)]
    for kind, extra in [*some, ("encoder", ["--layer", "1"])]:
        picture = trained / f"{kind}{len(extra)}.svg"
        assert main([*command, "--kind", kind, *extra, "--output", str(picture)]) == 0
        assert picture.stat().st_size > 5000
    out = capsys.readouterr().out
    assert "encoder attention, all layers: " in out and "cross attention, layer 1, head 2: " in out
    for extra, message in (
        (["--layer", "2"], "--layer 2: expected 1"),
        (["--layer", "first"], "--layer first: expected"),
        (["--matrices", "--head", "5"], "--head 5: expected 1 to 4"),
        (["--through-time", str(trained)], "not allowed with argument"),
    ):
        try:
            assert main([*command, *extra]) == 2
        except SystemExit as stop:
            assert stop.code == 2
        assert message in capsys.readouterr().err


@pytest.mark.slow
def test_attention_without_the_matrices_to_catch(trained, monkeypatch, capsys):
    from reference import attention, layers

    class Another(attention.MultiHeadedAttention):
        def forward(self, query, key, value, mask=None):
            scores = self.project_query(query) @ self.project_key(key).transpose(-2, -1)
            weights = scores.softmax(-1).unsqueeze(1).expand(-1, self.n_heads, -1, -1)
            return self.project_output(weights[:, 0] @ self.project_value(value)), weights

    monkeypatch.setattr(layers, "MultiHeadedAttention", Another)
    command = ["attention", "--checkpoint", str(trained / "out/best.pt"), "--sentence", "je dors ."]
    assert main([*command, "--matrices", "--output", str(trained / "no.png")]) == 2
    assert (
        "works only if MultiHeadedAttention calls scaled_dot_product_attention with each head"
        in capsys.readouterr().err
    )
    assert main([*command, "--output", str(trained / "yes.png")]) == 0


def test_samples_are_drawn_at_random_and_may_keep_their_marks(trained, tmp_path, capsys):
    files = ["--train", str(trained / "train"), "--dev", str(trained / "train"), "--output", str(tmp_path)]
    settings = ["--preset", "tiny", "--d-model", "16", "--epochs", "2", "--samples"]
    shown = []
    for count, marks in ((5, []), (5, ["--sample-marks"]), (0, [])):
        assert main(["train", *files, *settings, str(count), *marks]) == 0
        lines = capsys.readouterr().out.splitlines()
        shown.append([line.strip() for line in lines if line.startswith("    ")])
        assert len(shown[-1]) == 2 * 3 * count
    references = [line.removeprefix("== ") for line in shown[0] if line.startswith("== ")]
    assert set(references[:5]) != set(references[5:]), "other sentences at each report"
    assert len(set(references[:5])) == 5
    assert any("man@@ ge" in line for line in shown[1])
    assert shown[0] == [line.replace("@@ ", "") for line in shown[1]]
    assert main(["train", *files, *settings, "-1"]) == 2
    assert "--samples -1: expected at least 0" in capsys.readouterr().err


def test_training_may_end_with_test_translations(trained, tmp_path, capsys):
    (tmp_path / "test").write_text("je dors .\nnous man@@ ge .\n")
    run = tmp_path / "run"
    files = ["--train", str(trained / "train"), "--dev", str(trained / "dev"), "--output", str(run)]
    command = ["train", *files, "--preset", "tiny", "--d-model", "16", "--test-file"]
    assert main([*command, str(tmp_path / "test"), "--out-file", str(tmp_path / "out" / "t.txt")]) == 0
    again = ["--checkpoint", str(run / "best.pt"), "--input", str(tmp_path / "test"), "--output", str(tmp_path / "t")]
    assert main(["translate", *again]) == 0
    assert (tmp_path / "out" / "t.txt").read_text() == (tmp_path / "t").read_text()
    assert main([*command, str(tmp_path / "test")]) == 0
    assert (run / "translations.txt").read_text() == (tmp_path / "t").read_text()
    capsys.readouterr()
    assert main([*command, str(tmp_path / "none")]) == 2
    assert "none: No such file or directory" in capsys.readouterr().err, "before the training"
    assert main(["train", *files, "--out-file", "x"]) == 2
    assert "--out-file has no effect without --test-file" in capsys.readouterr().err
