"""`python -m reference` as its user types it: what it prints, kept checkpoints, and one line for each mistake."""

import runpy
import shlex
import shutil
import sys

import pytest
import torch

from given.experiment import Experiment
from given.run_folder import Checkpoint
from reference.__main__ import main
from reference.vocab import join_subwords

from .conftest import DEV, PAIRS, REFERENCE, corpus_flags

SIZES = ["--preset", "tiny", "--d-model", "16", "--max-length", "9", "--batch-size", "4"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with `train`, `dev` and a run that has kept its three epochs."""
    folder = tmp_path_factory.mktemp("trained")
    flags = ["--epochs", "3", "--diagonal-width", "2", "--keep-epochs"]
    assert main(["train", *corpus_flags(folder), *SIZES, *flags]) == 0
    return folder


@pytest.fixture
def folder(trained, tmp_path):
    """A copy of the run, which a test may change."""
    return shutil.copytree(trained / "run", tmp_path / "run")


@pytest.fixture
def train(tmp_path, capsys):
    """Trains on the small corpus; returns what is printed."""

    def run(*more, status=0, sizes=SIZES):
        assert main(["train", *corpus_flags(tmp_path), *sizes, *more]) == status
        return capsys.readouterr()

    return run


def test_vocabularies_and_parameters_are_shown_first_and_the_next_command_last(train, tmp_path, monkeypatch):
    lines = train("--output", str(tmp_path / "my run")).out.splitlines()
    assert lines[0].startswith("15 training and 4 dev pairs of up to 4 and 4 tokens, vocabularies 15 and 14, ")
    weights = Checkpoint.load(REFERENCE, tmp_path / "my run/last.pt").weights.values()
    assert lines[0].endswith(f", {sum(weight.numel() for weight in weights):,} parameters")
    assert lines[-1].startswith("next: python -m reference translate --checkpoint ")
    monkeypatch.chdir(tmp_path)
    assert main([*shlex.split(lines[-1])[4:], "--input", "dev"]) == 0
    assert (tmp_path / "reference/translations.txt").read_text().count("\n") == 4


def test_the_bar_has_the_loss_and_its_average(train):
    assert "avg_loss=" in train("--epochs", "1").err


def test_accumulation_and_smoothing_are_flags(train, tmp_path):
    train("--epochs", "1", "--batch-size", "2", "--accumulate", "4", "--label-smoothing", "0.3")
    saved = Checkpoint.load(REFERENCE, tmp_path / "run/last.pt")
    assert saved.step == 2  # eight batches of two, four of them a step
    assert Experiment(REFERENCE, saved.config, PAIRS, DEV).criterion.label_smoothing == 0.3


def test_samples_are_drawn_at_random_and_may_keep_their_marks(train):
    pairs = {join_subwords(source): join_subwords(target) for source, target in PAIRS}
    shown = []
    for count, marks in ((5, []), (5, ["--sample-marks"]), (0, [])):
        lines = train("--epochs", "2", "--samples", str(count), *marks).out.splitlines()
        shown.append([line.strip() for line in lines if line.startswith("    ")])
        assert len(shown[-1]) == 2 * 3 * min(count, len(DEV))
    for source, translation, reference in zip(*(shown[0][n::3] for n in range(3)), strict=True):
        assert translation.startswith("->") and reference == f"== {pairs[source]}"
    assert any("man@@ ge" in line for line in shown[1])
    assert shown[0] == [line.replace("@@ ", "") for line in shown[1]]


def test_training_may_end_with_test_translations(train, tmp_path):
    (tmp_path / "test").write_text("je dors .\nnous man@@ ge .\n")
    test = ["--test-file", str(tmp_path / "test")]
    train(*test, "--out-file", str(tmp_path / "out" / "t.txt"))
    files = ["--checkpoint", str(tmp_path / "run/best.pt"), "--input", str(tmp_path / "test")]
    assert main(["translate", *files, "--output", str(tmp_path / "t")]) == 0
    assert (tmp_path / "out" / "t.txt").read_text() == (tmp_path / "t").read_text()
    train(*test)
    assert (tmp_path / "run/translations.txt").read_text() == (tmp_path / "t").read_text()
    assert "none: No such file or directory" in train("--test-file", str(tmp_path / "none"), status=2).err
    assert "has no effect without --test-file" in train("--out-file", "x", status=2).err


def test_runs_are_compared_by_what_differs(trained, train, tmp_path, capsys):
    train("--d-model", "8", "--epochs", "1")
    (tmp_path / "begun").mkdir()
    folders = [str(trained / "run"), str(tmp_path / "run")]
    assert main(["compare", *folders, str(tmp_path / "begun")]) == 0
    printed = capsys.readouterr()
    head, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in printed.out.splitlines()]
    assert head[:4] == ["run", "d_model", "diagonal_width", "epochs"], "what is the same everywhere is left out"
    assert {row[0]: row[1:4] for row in rows} == {folders[0]: ["16", "2", "3"], folders[1]: ["8", "0", "1"]}
    scores = [float(row[head.index("dev_bleu")]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert printed.err == f"note: {tmp_path / 'begun'}: no report yet, so there is nothing to compare\n"
    assert main(["compare", str(tmp_path / "begun")]) == 2


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["train", "--train", "nowhere"], "nowhere: No such file"),
        (["train", "--corpus", "nowhere"], "nowhere: expected one file train.bpe or train.words; found no such file"),
        (["train", "--epochs", "2", "--max-steps", "3"], "--epochs 2 has no effect: max_steps = 3 counts in its place"),
        (["train", "--device", "nosuch"], "--device nosuch: it cannot be used here: "),
        (["train", "--resume", "--dropout", "0.3"], "--resume keeps the settings of the run but its length; leave out"),
        (["train", "--from", "epoch-09"], "--from epoch-09: {folder}/run has best, epoch-01, epoch-02, epoch-03, last"),
        (["train", "--from", "epoch-02", "--max-steps", "2"], "has 8 steps already, more than the 2"),
        (["train", "--output", "{folder}/dev"], "{folder}/dev: Not a directory"),
        (["train", "--attention-through-time", "elle ."], "'elle .' is not a source of the training or dev pairs: add"),
        (["train", "--dev", "{folder}/long"], "{folder}/long:2: a source of 600 tokens, expected at most 512"),
        (["translate", "--output", "{folder}"], "{folder}: Is a directory"),
        (["attention", "--sentence", "je " * 600], "--sentence: a source of 600 tokens, expected at most 512"),
        (["attention", "--sentence", "je", "--output", "a.gif"], "a.gif: expected a name that ends in .png, .svg"),
        (["attention", "--sentence", "je dors .", "--layer", "2"], "--layer 2: expected 1"),
        (["attention", "--sentence", "je dors .", "--matrices", "--head", "5"], "--head 5: expected 1 to 4"),
    ],
)
def test_mistakes_get_one_line_and_status_2(arguments, message, capsys, trained, monkeypatch):
    (trained / "long").write_text("je dors|||i sleep\n" + "je " * 600 + "|||i sleep\n")
    files = {"train": ("train", "dev", "output"), "translate": ("checkpoint", "input"), "attention": ("checkpoint",)}
    ours = {"checkpoint": "run/best.pt", "input": "train", "output": "run"}
    given = [argument.format(folder=trained) for argument in arguments]
    for flag in files[arguments[0]]:
        if f"--{flag}" not in given:
            given += [f"--{flag}", str(trained / ours.get(flag, flag))]
    work = {"train": "reference.train.train_epoch", "translate": "given.decoding.translate"}
    if arguments[0] in work:
        monkeypatch.setattr(work[arguments[0]], lambda *inputs, **options: pytest.fail("the work was begun"))
    before = {path: path.read_bytes() for path in (trained / "run").iterdir()}
    assert main(given) == 2
    printed = capsys.readouterr().err
    assert message.format(folder=trained) in printed and printed.count("\n") == 1
    assert {path: path.read_bytes() for path in (trained / "run").iterdir()} == before


def test_auto_says_which_device_it_chose(trained, capsys):
    arguments = ["--checkpoint", str(trained / "run/best.pt"), "--input", str(trained / "dev")]
    assert main(["translate", *arguments, "--output", "-", "--device", "auto"]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("device: ") and "device: " not in printed.out


def test_who_stops_while_pytorch_is_loaded_is_told_nothing(monkeypatch, capsys):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("given.command_line.main", stop)
    monkeypatch.delitem(sys.modules, main.__module__)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("reference", run_name="__main__")
    assert (ended.value.code, capsys.readouterr().err) == (130, "")


def test_who_stops_training_is_told_how_to_resume(train, tmp_path, monkeypatch):
    run_epoch, stops = Experiment.run_epoch, [1, 0]

    def stop(run, *arguments):
        if stops and len(run.history) == stops[-1]:
            stops.pop()
            raise KeyboardInterrupt
        return run_epoch(run, *arguments)

    monkeypatch.setattr(Experiment, "run_epoch", stop)
    assert train("--epochs", "3", status=130).err == "\nreference: stopped\n", "nothing is saved yet"
    printed = train("--epochs", "3", status=130).err
    assert printed.endswith("reference: stopped; --resume, with the same --output, goes on\n")
    assert main(["train", "--resume", "--output", str(tmp_path / "run")]) == 0, "the run remembers its files"
    assert Checkpoint.load(REFERENCE, tmp_path / "run" / "last.pt").epoch == 3


@pytest.mark.slow
def test_attention_draws_all_layers_and_matrices(trained, tmp_path, capsys):
    from reference import attention

    before = attention.scaled_dot_product_attention
    command = ["attention", "--checkpoint", str(trained / "run/best.pt"), "--sentence", "je dors ."]
    everything, matrices, picture = ["--layer", "all"], ["--matrices", "--head", "2"], tmp_path / "a.svg"
    some = [("encoder", everything), ("cross", everything), ("decoder", matrices), ("cross", matrices)]
    for kind, more in [*some, ("encoder", ["--layer", "1"])]:
        assert main([*command, "--kind", kind, *more, "--output", str(picture)]) == 0
        assert picture.stat().st_size > 5000
        picture.unlink()
    out = capsys.readouterr().out
    assert "encoder attention, all layers: " in out and "cross attention, layer 1, head 2: " in out

    assert attention.scaled_dot_product_attention is before, "what was caught is let go"


def test_a_run_goes_on_from_a_kept_epoch(trained, folder, train):
    """In its own folder: what was trained later is trained again, to the last bit."""
    (folder / "last.pt").unlink()
    train("--resume", "--from", "epoch-02", "--keep-epochs", sizes=[])
    assert "the run is finished; a higher --epochs or --max-steps" in train("--resume", sizes=[]).out
    for path in (trained / "run").glob("*.pt"):
        whole, again = (Checkpoint.load(REFERENCE, place) for place in (path, folder / path.name))
        states = [[*saved.weights.values(), *saved.rng_states.values()] for saved in (whole, again)]
        assert all(torch.equal(mine, theirs) for mine, theirs in zip(*states, strict=True)), path
        assert [line["dev_loss"] for line in whole.history] == [line["dev_loss"] for line in again.history]
