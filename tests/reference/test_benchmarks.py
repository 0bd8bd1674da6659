"""The measurements take their options, and a verdict follows the interval over seeds."""

import inspect

import pytest

from benchmarks.__main__ import make_parser
from benchmarks.tables import verdict
from validity import __main__ as validity


@pytest.mark.parametrize("make, does", [(make_parser, "measure"), (validity.make_parser, "proof")])
def test_options_are_named_as_the_parameters_of_what_measures(make, does):
    commands = next(action.choices for action in make()._actions if action.choices)
    for name, parser in commands.items():
        options = vars(parser.parse_args([]))
        parameters = inspect.signature(options.pop(does)).parameters
        assert options.keys() == parameters.keys(), name


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
    judged = verdict(differences)
    assert judged[0] == interval and judged[1].startswith(words)
