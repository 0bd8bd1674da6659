"""Proof of the component tests: every known fault must fail them, every correct variant must pass them.

Runs trusted code only (the reference with patches, and variants of our own), so in this process and its forks.

    command.py           `python -m validity prove`
    prove.py             runs the tests on all faults and variants
    result.py            what the proof found
    reading_variants.py  correct implementations that look different
    verdicts.py          is a fault found, and which tasks pay for it?
    margins.py           how far correct code and faults are from each tolerance
    terminal_tables.py   the result in the terminal, and as JSON
    pages.py             the result as pages for docs/proof
    confusion_matrix.py  which task pays for a fault: the shares, and their picture
"""
