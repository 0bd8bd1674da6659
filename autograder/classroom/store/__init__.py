"""The database of a class: the results of every content, and what people decide by hand.

    with Database(url_of(None, Path("marks")), assignment.name) as database:
        results = Results(database, seeds)
        results.enrol(entries)

    database.py  opening, transactions      results.py  who handed in what, and what the grader found out
    tables.py    what is in it              by_hand.py  what people decide

SQLAlchemy speaks to SQLite, by default a file in the output folder, and to PostgreSQL, for several people at once.
"""

from .by_hand import WHOLE, Decision, Decisions, called, decide, decisions_in, find_student
from .database import FILE, Database, StoreError, url_of
from .results import Results, Stored, stored_name

__all__ = [
    "FILE",
    "WHOLE",
    "Database",
    "Decision",
    "Decisions",
    "Results",
    "StoreError",
    "Stored",
    "called",
    "decide",
    "decisions_in",
    "find_student",
    "stored_name",
    "url_of",
]
