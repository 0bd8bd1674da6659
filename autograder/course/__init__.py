"""The engine's way to an assignment: its code and its known faults.

    assignment_code.py   modules of its folder, found by name, and what they may offer
    catalogue.py         misconceptions: known faults as patches of the reference

All else that an assignment has is data: `foundation.assignment_file`.
"""
