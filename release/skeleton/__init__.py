"""From the reference to the skeleton: finds the marked regions, takes the solutions out, keeps the hints.

    source.py              one Python file: text, lines, tokens, syntax tree
    markers.py             where solutions begin and end
    misspelled_markers.py  what only resembles a marker
    hints.py               the comments that tell students what to write
    regions.py             markers with their hints, proven to be whole statements
    strip.py               every region becomes a `raise`
    unused_imports.py      what only solutions imported goes
    build.py               all passes over one folder

The passes run in this order.
"""
