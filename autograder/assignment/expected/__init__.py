"""What right code computes, whatever a submission calls its parameters and however it lays them out.

    readings.py       embedding, LayerNorm and feed-forward network, for each reading of their parameters
    attention.py      attention, also multi-headed       projections.py  which split of parameters explains it
    layers.py         layers, stacks and the model       subjects.py     these as the subjects of tests
    random_cells.py   of the diagonal mask               written_out.py  layers that hold parts of their own
    parts.py          stand-ins, recognised by shape     by_behaviour.py  layouts that no list knows
    trainings.py      what train_epoch should end with   search_tables.py  what beam search should find

Tests write random values into all parameters, so that no two readings of them compute the same.
"""
