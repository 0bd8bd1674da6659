"""The database of a class: results of every attempt, and what people decide by hand.

    with Database(url_of(None, Path("marks")), assignment.name) as database:
        results = Results(database, seeds)
        results.enrol(received_of(roll, entries).values())

    database.py   transactions             tables.py    what is in it
    opening.py    from a URL               results.py   what the grader found out
    enrolment.py  who handed in what       adding.py    one more of them
    migrations/   of older databases       by_hand.py   what people decide

SQLAlchemy speaks to SQLite, by default a file in the output folder, and to PostgreSQL, for several people at once.
"""

from .by_hand import ByHand, Decision, Decisions
from .database import Database
from .enrolment import Owner, Received, received_of
from .opening import FILE, StoreError, url_of
from .results import Results, Stored

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
    "url_of",
]
