"""Never finishes importing.

Bites: stop.
Earns: nothing.
"""

while True:
    pass
