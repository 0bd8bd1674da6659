"""Questions and hunts about students' own code, as far as they are about this assignment.

    scenes.py        small calls to look into, and such as one can compute by hand
    calls.py         calls by which versions of a component are told apart
    choices.py       questions about attention weights
    symptoms.py      symptoms of faulty code, seen from outside
    descriptions.py  tests in words
    trained_mistakes.toml, .jsonl  mistakes, and figures and translations of models that were trained with them

The engine's part, which draws and runs, is `autograder/own_work/`. Students have the scenes, the calls, and the trained
models.
"""
