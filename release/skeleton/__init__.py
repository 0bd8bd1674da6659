"""From the reference to the skeleton: finds the marked regions, takes the solutions out, keeps the hints.

    source.py     one Python file: text, lines, tokens, syntax tree
    markers.py    where solutions begin and end, and what only resembles a marker
    regions.py    markers with their hints, proven to be whole statements
    build.py      all passes over one folder: every region becomes a `raise`, unused imports go

The passes run in this order.
"""
