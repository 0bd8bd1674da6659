"""Proof of the component tests: every known fault must fail them, every correct variant must pass them.

Runs trusted code only (the reference with patches, and variants of our own), so in this process and its forks.

    prove.py             runs the tests on all faults and variants: is a fault found, which tasks pay for it?
    reading_variants.py  correct implementations that look different
    report.py            the result in the terminal, as JSON, and as pages for docs/proof
"""
