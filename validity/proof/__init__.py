"""Proof of the component tests: every known fault must fail them, every correct variant must pass.

Runs trusted code only (the reference with patches, and variants of our own), so in this process and its forks.
"""
