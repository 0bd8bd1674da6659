"""What right code computes, whatever a submission calls its parameters and however it lays them out.

    attention.py      scaled dot-product attention, and what a wrong formula can still get right
    readings.py       embedding, LayerNorm and feed-forward network, for each reading of their parameters
    heads.py          multi-headed attention             projections.py  which split explains what it returns
    layers.py         layers, stacks and the model       splitting.py    ways to split parameters into projections
    parts.py          stand-ins, recognised by shape     written_out.py  layers that hold parts of their own
    by_behaviour.py   layouts that no list knows         unreadable.py   laws that hold for any layout
    trainings.py      what train_epoch should end with   search_tables.py  what beam search should find

Tests write random values into all parameters, so that no two readings of them compute the same.
"""
