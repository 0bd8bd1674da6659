"""What component tests of several tasks share; each builds its component among stand-ins.

    layers.py                encoder and decoder layer
    layer_case.py            how a layer is built and read
    written_out.py           a layer that writes its parts out
    stacks.py, models.py     encoder and decoder; the Transformer
    situations.py            one of the many ways in which a component may be called
    levels.py, drawing.py    what those are made of; the arguments
    sizes_in_code.py         those that a component's code asks for
    judging.py               calls it so, and compares by value
    unreadable.py            laws for layouts that nothing can read; then a person reads
    layer_situations.py, stack_situations.py, model_situations.py
                             situations of these components

A check asserts one law of the contract; which tests make it, and how many points they carry, the tests say.
"""
