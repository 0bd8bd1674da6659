"""Vocabulary, reader, batches."""

import pytest
import torch

from reference.data import LONGEST, Batch, BatchLoader, DataError, read_pairs, read_sources
from reference.masks import diagonal_mask
from reference.model import Transformer
from reference.vocab import BOS_ID, EOS_ID, PAD_ID, SPECIAL_TOKENS, UNK_ID, Vocabulary


def test_unknown_and_rare_tokens_become_unk():
    vocab = Vocabulary.build([["a", "b", "a"]], min_count=2)
    assert vocab.encode(["a", "b", "c"]) == [len(SPECIAL_TOKENS), UNK_ID, UNK_ID]


def test_pairs_are_read(tmp_path):
    path = tmp_path / "pairs"
    path.write_bytes("\ufeffje suis|||i m\r\nil est\u2028la|||he is here\n".encode())
    assert read_pairs(path) == [(["je", "suis"], ["i", "m"]), (["il", "est", "la"], ["he", "is", "here"])]


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "the file is empty"),
        (b"a|||b\nno separator\n", ":2: expected `source|||target`, found 'no separator'"),
        (b"a|||\n", ":1: expected"),
        (b"a|||b|||c\n", ":1: expected"),
        (b"\xff\xfe", "not UTF-8 text"),
        (b"a|||b\n" + b"a " * 513 + b"|||b\n", ":2: a source of 513 tokens, expected at most 512"),
        (b"a|||" + b"b " * 512 + b"\n", ":1: a target of 512 tokens, expected at most 511"),
    ],
)
def test_bad_pairs_are_refused_with_their_place(tmp_path, content, message):
    path = tmp_path / "pairs"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_pairs(path)
    assert message in str(caught.value)


def test_the_longest_sides_are_what_the_model_can_read(tmp_path):
    path = tmp_path / "pairs"
    path.write_text("a " * LONGEST["source"] + "|||" + "b " * LONGEST["target"] + "\n")
    (source, target), model = read_pairs(path)[0], Transformer(9, 9, 8, 2, 8, 1)
    batch = Batch.from_ids([[5] * len(source)], [[6] * len(target)])
    memory, _ = model.encode(batch.src, batch.encoder_mask)
    assert model.decode(batch.tgt_input, memory, batch.src_mask, batch.tgt_mask)[0].shape == (1, 512, 8)
    for longer in Batch.from_ids([[5] * 513], [[6]]), Batch.from_ids([[5]], [[6] * 512]):
        with pytest.raises(ValueError, match="513 positions"):
            memory, _ = model.encode(longer.src, longer.encoder_mask)
            model.decode(longer.tgt_input, memory, longer.src_mask, longer.tgt_mask)


def test_sources_are_read_from_pairs_too(tmp_path):
    path = tmp_path / "sources"
    path.write_text("je suis\n\nil est|||he is\n")
    assert read_sources(path) == [["je", "suis"], [], ["il", "est"]]
    path.write_text("je suis\n" + "a " * 600 + "\n")
    with pytest.raises(DataError, match=":2: a source of 600 tokens, expected at most 512"):
        read_sources(path)


def test_batch_and_its_masks():
    batch = Batch.from_ids([[5, 6, 7], [8]], [[9], [10, 11]])
    assert batch.src.tolist() == [[5, 6, 7], [8, PAD_ID, PAD_ID]]
    assert batch.tgt_input.tolist() == [[BOS_ID, 9, PAD_ID], [BOS_ID, 10, 11]]
    assert batch.labels.tolist() == [[9, EOS_ID, PAD_ID], [10, 11, EOS_ID]]
    assert batch.src_mask.tolist() == [[[[True] * 3]], [[[True, False, False]]]]
    assert batch.encoder_mask is batch.src_mask
    assert batch.tgt_mask[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, False]]


def test_diagonal_mask_is_cut_to_size():
    diagonal = diagonal_mask(10, 2)
    batch = Batch.from_ids([[5, 6, 7, 8]], [[9]], diagonal)
    assert torch.equal(batch.encoder_mask[0, 0], diagonal[:4, :4])
    assert batch.src_mask.shape == (1, 1, 1, 4)
    with pytest.raises(DataError, match="a source of 4 tokens"):
        Batch.from_ids([[5, 6, 7, 8]], [[9]], diagonal_mask(3))


@pytest.mark.parametrize("bucketing", [False, True])
@pytest.mark.parametrize("size", [1, 7, 100])
def test_every_pair_comes_once_an_epoch_and_the_order_changes(bucketing, size):
    pairs = [([str(i)] * (1 + i % 9), [str(i)]) for i in range(100)]
    vocab = Vocabulary.build(src for src, _ in pairs)
    loader = BatchLoader(pairs, vocab, vocab, size, bucketing=bucketing, seed=4)
    seen = [[row[0] for batch in loader.epoch(number) for row in batch.src.tolist()] for number in (0, 0, 1)]
    assert sorted(seen[0]) == sorted(vocab.encode([str(i) for i in range(100)]))
    assert seen[0] == seen[1]
    assert seen[0] != seen[2]
    assert len(list(loader.epoch(0))) == len(loader)
