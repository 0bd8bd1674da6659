"""Proof of the questions about students' own code: one right choice each, and none that the text gives away.

prove.py    draws questions to many submissions, and puts the results together
running.py  runs each option again, with other inputs
texts.py    ways to choose an answer by its text alone
"""
