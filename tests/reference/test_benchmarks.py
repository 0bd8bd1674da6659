"""The measurements take their options, and the report's tables are what they say."""

import inspect

import pytest

from benchmarks.__main__ import make_parser
from benchmarks.tables import TABLES, verdict
from given.config import COURSE, Config
from validity import __main__ as validity


@pytest.mark.parametrize("make, does", [(make_parser, "measure"), (validity.make_parser, "proof")])
def test_options_are_named_as_the_parameters_of_what_measures(make, does):
    commands = next(action.choices for action in make()._actions if action.choices)
    for name, parser in commands.items():
        options = vars(parser.parse_args([]))
        parameters = inspect.signature(options.pop(does)).parameters
        assert options.keys() == parameters.keys(), name


def test_the_columns_are_those_of_the_report():
    """Its tables 1, 2 and 3: what each column changes in the course's defaults."""
    assert [dict(column.changes) for column in TABLES[1]] == [
        {}, {"epochs": 20}, {"epochs": 30}, {"epochs": 40}, {"d_model": 256}, {"d_model": 512}, {"d_model": 1024},
        {"d_ff": 128}, {"d_ff": 512}, {"d_ff": 1024}, {},
    ]  # fmt: skip
    assert [dict(column.changes) for column in TABLES[2]] == [
        {"n_layers": 4}, {"n_layers": 8}, {"n_heads": 2}, {"n_heads": 1}, {"n_heads": 8}, {},
        {"learning_rate": 0.01}, {"learning_rate": 0.0001},
        {"d_model": 256, "d_ff": 512, "n_layers": 4, "epochs": 50},
    ]  # fmt: skip
    sizes = [(64, 128, 10), (128, 256, 20), (256, 512, 20)]
    found = [Config.from_dict(COURSE.to_dict() | dict(column.changes)) for column in TABLES[3]]
    assert [(one.d_model, one.d_ff, one.epochs) for one in found] == [size for size in sizes for _ in range(2)]
    assert [(one.n_heads, one.diagonal_width) for one in found] == [(2, 0), (2, 2)] * 3


@pytest.mark.parametrize(
    ("differences", "interval", "words"),
    [
        ([0.01, 0.03], "-0.107 to +0.147", "no effect"),
        ([0.02, 0.02], "+0.020 to +0.020", "helps"),
        ([-0.02, -0.03, -0.04], "-0.055 to -0.005", "harms"),
        ([0.02], "–", "one seed"),
    ],
)
def test_the_verdict_follows_students_interval(differences, interval, words):
    """By hand: 0.02 ± 12.706 · 0.01414 / √2, and -0.03 ± 4.303 · 0.01 / √3."""
    found = verdict(differences)
    assert found[0] == interval and found[1].startswith(words)
