"""From tokens to translations with a trained model; `translate`: the lines of a file, or what somebody types.

The key/value cache of `extras/` makes decoding many times as fast, with the same result.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor
from tqdm import tqdm

from foundation.whole_files import in_one_piece

from .config import LANGUAGES, ConfigError, settings_in
from .package import Batch, Package, Setup, Transformer
from .run_folder import Checkpoint

MOST_SENTENCES = 256  # that are decoded together; more do not fit the processor's cache
MOST_ROWS = 512  # hypotheses of theirs, likewise
MOST_TOKENS = 8192  # tokens of their sources, with padding; memory for attention grows with their length, too
Search = Callable[..., list[list[int]]]
"""A way to decode: `greedy_decode`, or any function with its arguments and a result for each sentence."""
SOURCES = Path("data/corpus/fren.test.src.bpe")
TRANSLATIONS = Path("translations.txt")
STANDARD = Path("-")  # standard input or output
OF_TOKENS = (".bpe", ".words")  # endings of a corpus' files


def choose_search(
    package: Package, model: Transformer, beam_size: int = 1, length_penalty: float = 0.6, is_cached: bool = True
) -> Search:
    """Chooses a search for the model as it is now: the package's `greedy_decode` (size 1) or `beam_decode`.

    With `is_cached`, the reference's models are decoded with a key/value cache where there is one.
    """
    search: Search = package.decode.greedy_decode
    if beam_size > 1:
        search = partial(package.decode.beam_decode, beam_size=beam_size, length_penalty=length_penalty)
    if is_cached and package.name == "reference":
        from .extras.reference_layers import CachedModel

        return lambda model, *inputs, **options: search(CachedModel(package, model), *inputs, **options)
    return search


def translate(model: Transformer, sentences: list[list[str]], setup: Setup, progress: bool = False) -> list[list[str]]:
    """Translates tokenized sentences in batches, by the settings of `setup`; an empty sentence stays empty."""
    package, config, vocab = setup.package, setup.config, setup.package.vocab
    search = choose_search(package, model, config.beam_size, config.length_penalty, config.cached)
    device = next(model.parameters()).device
    special = {"bos_id": vocab.BOS_ID, "eos_id": vocab.EOS_ID, "pad_id": vocab.PAD_ID}
    translations: list[list[str]] = [[] for _ in sentences]
    with tqdm(total=len(sentences), unit="sentence", disable=None if progress else True, leave=False, delay=1) as bar:
        for indices in batches_by_length(sentences, config.beam_size):
            src = package.data.pad_ids([setup.src_vocab.encode(sentences[index]) for index in indices]).to(device)
            src_mask = package.masks.padding_mask(src, vocab.PAD_ID)
            encoder_mask = package.data.restrict_to_diagonal(src_mask, setup.diagonal)
            results = search(model, src, src_mask, encoder_mask=encoder_mask, **special, max_length=config.max_length)
            for index, result in zip(indices, results, strict=True):
                translations[index] = setup.tgt_vocab.decode(result)
            bar.update(len(indices))
    return translations


def batches_by_length(sentences: list[list[str]], beam_size: int) -> Iterator[list[int]]:
    """Yields the indices of all sentences that are not empty; sentences of similar length share a batch."""
    order = sorted((i for i, sentence in enumerate(sentences) if sentence), key=lambda i: len(sentences[i]))
    most = min(MOST_SENTENCES, max(1, MOST_ROWS // beam_size))
    batch: list[int] = []
    for index in order:  # shorter ones come first
        if batch and (len(batch) == most or (len(batch) + 1) * len(sentences[index]) * beam_size > MOST_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def predict(
    model: Transformer,
    src: Tensor,
    src_mask: Tensor,
    encoder_mask: Tensor,
    tgt_input: Tensor,
    tgt_mask: Tensor,
    **_labels: Tensor,
) -> tuple[Tensor, dict[str, list[Tensor]]]:
    """Does what the model's `forward` does, with the tensors of a batch by name, and keeps the attention.

    Returns log-probabilities (b, t, classes), and the attention weights of each layer: `encoder` (b, h, s, s),
    `decoder` (b, h, t, t) and `cross` (b, h, t, s).
    """
    memory, encoder = model.encode(src, encoder_mask)
    output, decoder, cross = model.decode(tgt_input, memory, src_mask=src_mask, tgt_mask=tgt_mask)
    return model.get_predictions(output), {"encoder": encoder, "decoder": decoder, "cross": cross}


@torch.no_grad()
def forced_decode(model: Transformer, batch: Batch) -> tuple[Tensor, dict[str, list[Tensor]]]:
    """As `predict` of a batch, in eval mode and without gradients."""
    model.eval()
    return predict(model, **vars(batch))


def bleu(translations: list[str], references: list[str]) -> float:
    """Computes corpus BLEU, between 0 and 1, of lines that are already tokenized, as `grade.py` does."""
    import sacrebleu  # here, because only this function needs it and it is slow to load

    return sacrebleu.corpus_bleu(translations, [references], tokenize="none", force=True).score / 100


def load_model(options: argparse.Namespace) -> tuple[Checkpoint, Transformer]:
    """Loads a checkpoint and its model, ready to translate. Raises: CheckpointError if it is missing or misfits."""
    saved = Checkpoint.load(options.package, options.checkpoint)
    model = saved.build_model().to(options.device)
    saved.load_weights(model, options.checkpoint)
    return saved, model.eval()


def sources_of(
    package: Package, lines: Iterable[str], path: Path, first: int = 1, split: Callable[[str], list[str]] | None = None
) -> list[list[str]]:
    """Returns the tokens of a file's lines, `first` and later ones: sources, or pairs, of which the sources count.

    `split` takes raw text apart; None = tokens have spaces between them. Raises: DataError where one is too long.
    """
    sources = [split(line) if split else line.split(package.data.SEPARATOR)[0].split() for line in lines]
    for number, source in enumerate(sources, start=first):
        package.data.check_length(f"{path}:{number}", "source", source)
    return sources


def run(options: argparse.Namespace) -> int:
    """Translates a file, one sentence per line."""
    saved, model = load_model(options)
    package = saved.package
    saved = replace(saved, config=replace(saved.config, **settings_in(options)))
    if options.length_penalty is not None and saved.config.beam_size == 1:
        raise ConfigError(f"--length-penalty {options.length_penalty} has no effect without --beam-size of 2 or more")
    folder = options.checkpoint.parent
    split = None
    if options.input.suffix not in OF_TOKENS and (folder / LANGUAGES).is_file():
        from .extras.raw_text import load_tokenizer, split_text

        split = partial(split_text, load_tokenizer(folder), mark=package.vocab.CONTINUES)

    def translate_lines(lines: list[str], first: int = 1) -> str:
        sources = sources_of(package, lines, options.input, first, split)
        translations = translate(model, sources, saved, progress=True)
        return "".join(package.vocab.join_subwords(tokens) + "\n" for tokens in translations)

    if options.input == STANDARD:
        for number, line in enumerate(sys.stdin, start=1):
            print(translate_lines([line], number), end="", flush=True)
        return 0
    lines = package.data.read_lines(options.input)
    if options.output == STANDARD:
        print(translate_lines(lines), end="")
        return 0
    with in_one_piece(options.output) as unfinished:
        unfinished.write_text(translate_lines(lines), encoding="utf-8")
    print(f"{len(lines)} translations in {options.output}")
    return 0
