"""What a user reads of a mistyped command line."""

import pytest

from foundation.command_line import Parser


@pytest.mark.parametrize(
    "words, problem",
    [
        (
            ["translate", "--beamsize=4"],
            "kit translate: unrecognized arguments: --beamsize=4; did you mean --beam-size?",
        ),
        (["translate", "--preset", "tiny"], "kit translate: unrecognized arguments: --preset tiny"),
        (["translate", "a", "b"], "kit translate: unrecognized arguments: a b"),
    ],
)
def test_an_option_that_a_command_lacks_names_the_one_like_it(words, problem, capsys):
    parser = Parser(prog="kit")
    commands = parser.add_subparsers()
    commands.add_parser("translate").add_argument("--beam-size")
    commands.add_parser("train").add_argument("--preset")
    with pytest.raises(SystemExit) as end:
        parser.parse_args(words)
    assert end.value.code == 2 and capsys.readouterr().err == f"{problem} (--help shows an example)\n"
