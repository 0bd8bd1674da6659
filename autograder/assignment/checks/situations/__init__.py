"""The many ways in which a component may be called, and what it should do in each.

    levels.py         what situations are made of          situation.py  one call, and what matters about it
    drawing.py        the arguments that levels stand for  judging.py    calls a component so, compares by value
    sizes_in_code.py  situations that its own code asks for

None of it knows a component: what a right one returns, its own test or check says.
"""
