"""Faults that show only under a condition: every fault of the catalogue under every condition of the assignment.

The faults are those of the catalogue; the conditions are the assignment's (`proof/conditions/` in its folder). A
component behaves right unless its condition holds, and then as the fault does.

    command.py   `python -m validity prove --conditions`
    versions.py  puts a fault under a condition, as text; draws a sample of all pairs
    switch.py    chooses between right and faulty, while the tests run
    proof.py     runs the tests on a sample
    report.py    what was found, by condition and by component
"""
