"""From the cells of notebooks to the assignment's modules. Nothing is run.

cells.py        from a notebook's JSON to the cells that count      statements.py  what each statement defines and uses
cells_to_modules.py  which definition belongs to which module
"""
