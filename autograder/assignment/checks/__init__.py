"""What component tests are made of; each builds its component among stand-ins.

    layers.py, layer_case.py encoder and decoder layer; how a layer is built and read
    written_out.py           a layer that writes its parts out
    stacks.py, models.py     encoder and decoder; the Transformer
    multi_head.py            multi-head attention
    trainings.py             trainings on a small model, and what they should end with
    search_tables.py         tables for beam search whose best translation is known
    situations/              the many ways in which a component may be called, and what it should do in each
    layer_situations.py, stack_situations.py, model_situations.py
                             those of these components
    unreadable.py            laws for layouts that nothing can read; then a person reads

A check asserts one law of the contract; which tests make it, and how many points they carry, the tests say.
"""
