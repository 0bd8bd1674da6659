"""The tables of the course's report, trained again: on any corpus, with several seeds.

    command.py      `python -m benchmarks tables`       runs.py      trains and measures one model
    columns.py      the settings of every column

Each run's result is a file of its own, so that an interrupted command goes on where it stopped, with more seeds or more
columns if they are asked for.
"""
