"""What training can do beyond the assignment; only instructors have this folder.

    inner_dropout.py   dropout in two more places          weight_average.py      the average of the weights over time
    fused_layers.py    the same layers, computed faster    several_processes.py   one model, several processes
    precision.py       bfloat16 where it pays              arrow_corpus.py        millions of pairs, on the disk
    rewinding.py       going on from an earlier epoch

Some of these modules rely on how the reference's layers are written; students' layers may look different.
"""
