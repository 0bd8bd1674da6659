"""From prose and the marked reference to notebooks: an nbgrader course.

    notebooks/prose/*.md + reference/*.py --prose, definitions, cells--> source/transformer/*.ipynb (with solutions)
        --nbgrader itself--> release/transformer/*.ipynb --kit--> dist/notebooks.zip

The prose is written once, in Markdown; the code comes from the reference with its markers, which are nbgrader's own.
Nothing of `source/` leaves.
"""
