"""Raw text to tokens and back, with the tokenizers that a run keeps."""

import json
import subprocess
import sys

import pytest

from data.__main__ import main as data
from given.raw_text import LANGUAGES, TextError, TextTokenizer, tokenizer_files
from reference.__main__ import main
from reference.data import read_pairs

PAIRS = [(f"Ein Haus, {n} Katzen.", f"It's a house, {n} cats.") for n in range(40)]


@pytest.fixture
def corpus(tmp_path):
    """Prepares a corpus with these options more."""

    def prepare(*more):
        for side, name in enumerate(("de", "en")):
            (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in PAIRS))
        where = ["--train", tmp_path / "de", tmp_path / "en", "--languages", "de", "en", "--dev", 4, "--test", 0]
        where += ["--vocabulary", 60, "--output", tmp_path / "corpus", *more]
        assert data(["prepare", *map(str, where)]) == 0
        return tmp_path / "corpus"

    return prepare


@pytest.mark.parametrize("encoding", ["bpe", "words"])
@pytest.mark.parametrize("pre_tokenizer", ["signs", "whitespace"])
@pytest.mark.parametrize("joint", [True, False])
def test_raw_text_becomes_the_tokens_of_the_corpus(corpus, capsys, encoding, pre_tokenizer, joint):
    folder = corpus("--encoding", encoding, "--pre-tokenizer", pre_tokenizer, *["--joint"] * joint)
    text = TextTokenizer.load(folder)
    train = read_pairs(folder / f"train.{encoding}")
    assert {tuple(text.split(source)) for source, _ in PAIRS} >= {tuple(source) for source, _ in train}
    assert {target for _, target in PAIRS} >= {text.join(target) for _, target in train}


def test_unknown_words_and_letters_stay_as_they_are(corpus):
    """So that they can be copied into the translation; the model takes them for <unk>."""
    assert TextTokenizer.load(corpus("--encoding", "words")).split("Ein [EOS] Kater") == [
        "Ein", "[", "EOS", "]", "Kater",
    ]  # fmt: skip
    tokens = TextTokenizer.load(corpus()).split("a\u0301好 Haus")
    assert tokens == ["\u00e1@@", "好", "Haus"]
    lower = TextTokenizer.load(corpus("--lowercase", "--pre-tokenizer", "whitespace"))
    assert lower.split("HAUS ÄÖ") == ["haus", "ä@@", "ö"]
    assert lower.split("") == lower.split(" \n") == []


@pytest.mark.parametrize(
    ("language", "tokens", "text"),
    [
        ("en", "don ' t go , he said : \" 3 . 5 % of 10 , 000 ! \"", "don't go, he said: \"3.5% of 10,000!\""),
        ("en", "the dogs ' t@@ a@@ il , a t - shirt ...", "the dogs' tail, a t-shirt..."),
        ("fr", "l ' homme n ' est pas là , dit - il .", "l'homme n'est pas là, dit-il."),
        ("it", "dell ' acqua c ' è .", "dell'acqua c'è."),
        ("en", "", ""),
    ],
)  # fmt: skip
def test_tokens_become_text_that_people_read(corpus, language, tokens, text):
    tokenizer = TextTokenizer.load(corpus())
    tokenizer.target_language = language
    assert tokenizer.join(tokens.split()) == text


def test_a_run_keeps_its_tokenizers(corpus, tmp_path, capsys):
    """A later run from a corpus without them removes them."""
    folder, run = corpus("--joint"), tmp_path / "run"

    def train(name):
        where = ["--train", tmp_path / name / "train.bpe", "--dev", tmp_path / name / "dev.bpe"]
        return main([str(word) for word in ["train", "--preset", "tiny", "--max-steps", 1, *where, "--output", run]])

    assert train("corpus") == 0
    assert tokenizer_files(run) == tokenizer_files(folder) and set(tokenizer_files(run)) == {
        LANGUAGES,
        "tokenizer.json",
    }
    assert TextTokenizer.load(run).split("Ein Haus") == TextTokenizer.load(folder).split("Ein Haus")
    (tmp_path / "bare").mkdir()
    for name in ("train.bpe", "dev.bpe"):
        (folder / name).rename(tmp_path / "bare" / name)
    assert train("bare") == 0
    assert tokenizer_files(run) == {} and not list(run.glob("tokenizer*.json"))
    with pytest.raises(TextError, match=r"run: has no languages\.json"):
        TextTokenizer.load(run)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "languages.json: not a file that `data prepare` wrote"),
        ('{"source": {"language": 1, "tokenizer": "tokenizer.json"}}', "not a file that `data prepare` wrote"),
        (None, "tokenizer.json: No such file or directory"),
    ],
)
def test_files_that_are_wrong(corpus, tmp_path, capsys, content, message):
    folder = corpus("--joint")
    if content is None:
        (folder / "tokenizer.json").unlink()
    else:
        (folder / LANGUAGES).write_text(content)
    where = ["--train", folder / "train.bpe", "--dev", folder / "dev.bpe", "--output", tmp_path / "run"]
    assert main(["train", "--preset", "tiny", *map(str, where)]) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1
    assert not (tmp_path / "run/last.pt").exists()


def test_a_tokenizer_that_is_none(corpus):
    folder = corpus("--joint")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(TextError, match=r"tokenizer\.json: not a file of the library tokenizers"):
        TextTokenizer.load(folder)


@pytest.mark.slow  # a process of its own, which imports PyTorch
def test_training_needs_no_tokenizers(corpus, tmp_path):
    """Students train without the libraries of raw text."""
    folder = corpus("--joint")
    where = [
        "train",
        "--preset",
        "tiny",
        "--max-steps",
        1,
        "--train",
        folder / "train.bpe",
        "--dev",
        folder / "dev.bpe",
    ]
    words = json.dumps([str(word) for word in [*where, "--output", tmp_path / "run"]])
    code = (
        "import sys; sys.modules.update(tokenizers=None, sacremoses=None, datasets=None)\n"
        f"from reference.__main__ import main; sys.exit(main({words}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
