import html.parser
import sqlite3


def habit(x):
    return len(html.parser.__name__) + len(sqlite3.sqlite_version)
