"""The database of a class: results of every attempt, and what people decide by hand.

    with Database(url_of(None, Path("marks")), assignment.name) as database:
        results = Results(database, seeds)
        results.enrol(received_of(roll, entries).values())

    database.py  opening, transactions      results.py  who handed in what, and what the grader found out
    tables.py    what is in it              by_hand.py  what people decide

SQLAlchemy speaks to SQLite, by default a file in the output folder, and to PostgreSQL, for several people at once.
"""

from .by_hand import ByHand, Decision, Decisions
from .database import FILE, Database, StoreError, url_of
from .results import Owner, Received, Results, Stored, received_of, stored_name

__all__ = [
    "FILE",
    "ByHand",
    "Database",
    "Decision",
    "Decisions",
    "Owner",
    "Received",
    "Results",
    "StoreError",
    "Stored",
    "received_of",
    "stored_name",
    "url_of",
]
