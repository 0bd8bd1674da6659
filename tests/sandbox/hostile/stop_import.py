"""Never finishes importing.

Bites: stop.
"""

while True:
    pass
