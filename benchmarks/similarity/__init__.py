"""How well `autograder similar` tells copies from independent solutions.

    solutions.py   independent right solutions, from components of the right variants
    habits.py      how one student spells what others spell otherwise
    copies.py      a submission in disguise
    measuring.py   classes with planted copies: what is found, what is a false alarm, what it costs

`solutions.py` says what such a class cannot show.
"""
