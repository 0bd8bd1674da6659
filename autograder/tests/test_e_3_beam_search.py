"""Extension E.3: beam search, on tables of probabilities whose best translation is known."""

import math

import pytest
import torch

from autograder.checking.comparison import expect

pytestmark = pytest.mark.task_e_3

COMPONENT = "decode.beam_decode"
VOCAB, PAD, BOS, EOS = 16, 0, 1, 2
ALMOST_NEVER = -30.0  # log-probability of whatever a table does not name


class Tables:
    """Next-token probabilities of several sentences, named by their first source token."""

    def __init__(self, case, n_sentences, n_positions=8):
        self.case = case
        self.table = torch.full((n_sentences, n_positions, VOCAB, VOCAB), ALMOST_NEVER, dtype=torch.float64)
        self.table[..., EOS] = -1e-9  # whatever else is reached ends
        self.words = [case.tokens(VOCAB, 1, low=3).item()]
        self.words = torch.randperm(VOCAB - 3).add(3).tolist()

    def say(self, sentence, position, after, **probabilities):
        """Sets what follows the token `after` at a position; keys are `eos` or `w0`, `w1`, …"""
        row = self.table[sentence, position, after]
        row.fill_(ALMOST_NEVER)
        for name, probability in probabilities.items():
            row[EOS if name == "eos" else self.words[int(name[1:])]] = math.log(probability)

    def search(self, submission, sentences, function=COMPONENT, encoder_mask=None, needs=None, max_length=7, **options):
        """Runs the submission's search for these sentences as one batch."""
        model = submission.stand_in("Oracle", self.table, self.words[-1], needs)
        model.train()
        src = torch.tensor([[sentence, 3, 4] for sentence in sentences])
        src_mask = torch.ones(len(sentences), 1, 1, 3, dtype=torch.bool)
        ids = {"bos_id": BOS, "eos_id": EOS, "pad_id": PAD}
        found = submission.call(function, model, src, src_mask, encoder_mask, **ids, max_length=max_length, **options)
        good = isinstance(found, (list, tuple)) and all(isinstance(line, (list, tuple)) for line in found)
        expect(good, "what the search returns", "a list of lists of ids", type(found).__name__)
        return [[int(token) for token in line] for line in found]

    def ids(self, *numbers):
        return [self.words[number] for number in numbers]


def garden_path(tables, sentence, p=0.6):
    """The most probable first word leads into ten equal endings; the other one into a sure ending."""
    tables.say(sentence, 0, BOS, w0=p, w1=1 - p)
    tables.say(sentence, 1, tables.words[0], **{f"w{i}": 0.1 for i in range(2, 12)})
    tables.say(sentence, 1, tables.words[1], w2=1.0)
    for word in range(2, 12):
        tables.say(sentence, 2, tables.words[word], eos=1.0)


@pytest.mark.core
def test_finds_what_greedy_search_misses(submission, case):
    tables = Tables(case, 1)
    garden_path(tables, 0, case.number(0.55, 0.75))
    found = tables.search(submission, [0], beam_size=case.size(2, 4))
    look_at = "a beginning of lower probability must stay in the beam, with its probability so far"
    expect(found == [tables.ids(1, 2)], "a sentence on a garden path", f"{[tables.ids(1, 2)]}", f"{found}", look_at)


@pytest.mark.core
def test_beam_of_one_is_greedy(submission, case):
    tables = Tables(case, 2)
    garden_path(tables, 0)
    tables.say(1, 0, BOS, w3=0.9, w4=0.1)
    found = tables.search(submission, [1, 1], beam_size=1)
    expect(found == [tables.ids(3)] * 2, "beam_size=1", f"{[tables.ids(3)] * 2}", f"{found}")
    found = tables.search(submission, [0], beam_size=1)
    first = found[0][:1]
    expect(first == tables.ids(0), "beam_size=1 on a garden path", f"begins with {tables.ids(0)}", f"{first}")


def test_rows_of_a_batch_do_not_mix(submission, case):
    tables = Tables(case, 3)
    garden_path(tables, 0)
    tables.say(1, 0, BOS, eos=1.0)
    tables.say(2, 0, BOS, w5=1.0)
    for position, (before, after) in enumerate(((5, 6), (6, 7), (7, 8)), start=1):
        tables.say(2, position, tables.words[before], **{f"w{after}": 1.0})
    found = tables.search(submission, [2, 0, 1, 0], beam_size=2)
    wanted = [tables.ids(5, 6, 7, 8), tables.ids(1, 2), [], tables.ids(1, 2)]
    look_at = "each row has its own memory, mask, hypotheses and end"
    expect(found == wanted, "four sentences of different length", f"{wanted}", f"{found}", look_at)


def test_length_penalty(submission, case):
    tables = Tables(case, 1)
    tables.say(0, 0, BOS, w0=0.5, w1=0.5)
    tables.say(0, 1, tables.words[0], eos=1.0)  # log p = log 0.5 at length 2
    for position, (before, after) in enumerate(((1, 2), (2, 3), (3, 4)), start=1):
        tables.say(0, position, tables.words[before], **{f"w{after}": 0.9, "w9": 0.1})  # log p = log 0.3645, length 5
    short, long = tables.ids(0), tables.ids(1, 2, 3, 4)
    look_at = "score = log p / length ** length_penalty, and eos counts as a token"
    for penalty, wanted in ((0.0, short), (1.0, long)):
        found = tables.search(submission, [0], beam_size=4, length_penalty=penalty)
        expect(found == [wanted], f"length_penalty={penalty}", f"{[wanted]}", f"{found}", look_at)


def test_stops_at_max_length(submission, case):
    tables = Tables(case, 1)
    for position in range(8):
        for word in (BOS, tables.words[0]):
            tables.say(0, position, word, w0=0.9, w1=0.1)
        tables.say(0, position, tables.words[1], w0=0.9, w1=0.1)
    limit = case.size(2, 5)
    found = tables.search(submission, [0], beam_size=2, max_length=limit)
    wanted = [tables.ids(*[0] * limit)]
    expect(found == wanted, f"a sentence without an end, max_length={limit}", f"{wanted}", f"{found}")


def test_encoder_mask_is_handed_on(submission, case):
    tables = Tables(case, 1)
    garden_path(tables, 0)
    mask = torch.eye(3, dtype=torch.bool)[None, None]
    found = tables.search(submission, [0], encoder_mask=mask, needs=mask, beam_size=2)
    look_at = "encode gets encoder_mask, or src_mask where that is None"
    expect(found == [tables.ids(1, 2)], "a search with a diagonal mask", f"{[tables.ids(1, 2)]}", f"{found}", look_at)
