"""The tables of the course's report, trained again: on any corpus, with several seeds.

    command.py      `python -m benchmarks tables`       summary.py   mean and spread over seeds, as Markdown and JSON
    columns.py      the settings of every column        mask.py      does the diagonal mask help?
    one_run.py      trains and measures one model       plots.py     BLEU of every run, as pictures

Each run's result is a file of its own, so that an interrupted command goes on where it stopped, with more seeds or more
columns if they are asked for.
"""
