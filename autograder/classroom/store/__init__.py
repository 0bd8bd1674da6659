"""The database of a class: results of every attempt, and what people decide by hand.

    with Database(url_of(None, Path("marks")), assignment.name) as database:
        results = Results(database, seeds)
        results.enrol(received)
        results.add(received[0], record)

    database.py  transactions          tables.py    what is in it
    opening.py   from a URL            results.py   what the grader found out
    migrations/  of older databases    by_hand.py   what people decide

SQLAlchemy speaks to SQLite, by default a file in the output folder, and to PostgreSQL, for several people at once.
"""

from .by_hand import ByHand
from .database import Database
from .opening import StoreError, url_of
from .results import Owner, Received, Results, Stored

__all__ = ["ByHand", "Database", "Owner", "Received", "Results", "StoreError", "Stored", "url_of"]
