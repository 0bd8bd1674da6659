"""What right code computes, whatever a submission calls its parameters and however it lays them out.

    readings.py       embedding, LayerNorm and feed-forward network, for each reading of their parameters
    attention.py      attention, also multi-headed       usual_layouts.py  of attention and feed-forward network
    layers.py         layers, stacks and the model       by_behaviour.py   parameters in layouts that no list knows
    written_out.py    layers that hold parts of their own
    own_parts.py      stacks and models made of such layers
    subjects.py       layers, stacks and models as the subjects of tests
    trainings.py      what train_epoch should end with   search_tables.py  what beam search should find
    random_cells.py   of the diagonal mask             masks_obeyed.py   in layers, stacks, models
    inside.py         what the parts inside read       steps.py          what the steps of a training show

Tests write random values into all parameters, so that no two readings of them compute the same.
"""
