"""What component tests of several tasks share; each builds its component among stand-ins.

    layers.py       encoder and decoder layer      layer_case.py   how a layer is built and read
    stacks.py       encoder and decoder            written_out.py  a layer that writes its parts out
    models.py       the Transformer

A check asserts one law of the contract; which tests make it, and how many points they carry, the tests say.
"""
