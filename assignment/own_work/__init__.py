"""Questions and hunts about students' own code, as far as they are about this assignment.

    calls.py  small calls to look into, or to compute by hand; and calls by which versions are told apart
    trained_mistakes.toml, .jsonl  mistakes, and figures and translations of models that were trained with them

The engine's part, which draws and runs, is `autograder/own_work/`. Students have the calls and the trained models.
"""
