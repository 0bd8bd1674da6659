"""The computations of right code, whatever a submission calls its parameters and however it lays them out.

    search.py       the one search for what numbers mean: which of them plays which part in a formula
    flows.py        PyTorch's own layers and stacks, around other parts
    layers.py       formulas of parts, and of layers made of stand-ins and parts of their own
    modules.py      modules of a submission, with random parameters
    readings.py     embedding, LayerNorm, feed-forward network and multi-headed attention, read
    subjects.py     layers and stacks: made and read
    models.py       whole models, likewise
    whole.py        a whole model, made, called and trained as usual
    own_parts.py    stacks and models made of layers of their own
    masks.py        masks and numerical safety, where the values are wrong anyway
    dropout.py      of a layer
    trainings.py    what train_epoch should end with; training_diagnosis.py, what its steps show
    search_tables.py  what beam search should find

Tests write random values into all parameters, so that no two readings of them compute the same.
"""
