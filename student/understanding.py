"""Your answers to questions about your own code (extension E.6).

    python -m student understand 1.2          # also 1.3 and 1.4, once the tests of the task pass
    python -m pytest -m task_e_6

The first command shows your lines with numbers, and asks three questions about them: shapes of values, and numbers in
a call that you can compute by hand. It also shows the entry for the dictionary below. If you change the code, you get
other questions.
"""


def answers() -> dict[str, list[str]]:
    """Your answers, by task and version of the code.

    An answer is a text with the numbers in their order; it is read, not run. An example, about code that nobody has:

    return {"1.4 000000": ["(3, 4, 1)", "0.5 and 2", "(3, 4, 6)"]}
    """
    # TODO E.6: one entry for each of 1.2, 1.3 and 1.4; what would a debugger show at these lines?
    raise NotImplementedError("TODO E.6")
