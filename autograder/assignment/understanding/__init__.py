"""Questions to students about their own code, as far as they are about this assignment.

    scenes.py          small calls of each component, all of whose axes differ in length; some are in ../scenes.py
    calls.py           calls by which versions of a component are told apart
    choices.py         what becomes of the attention weights
    symptoms/          what one sees of faulty code from outside
    tests_in_words.py  what the tests check, in words

The engine's part, which draws and runs, is `autograder/understanding/`.
"""

from ..scenes import BY_HAND
from .calls import CALLS, results
from .choices import CHOICES
from .scenes import SCENES
from .symptoms import SYMPTOMS, observe
from .tests_in_words import TESTS

__all__ = ["BY_HAND", "CALLS", "CHOICES", "SCENES", "SYMPTOMS", "TESTS", "observe", "results"]
