"""Ends the process while it is imported.

Bites: stop.
Earns: nothing.
"""

import os

os._exit(0)
