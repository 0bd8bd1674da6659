"""Takes in a submission: a folder, a .zip or a notebook. None of it is run, and nothing is unpacked.

    intake = take_in(Path("anna.zip"), Path("student"), read_assignment())
    intake.sources["layers"]            # path for messages, text: the submission's merged with the release's

    sources.py           the Python text of a submission, read and parsed; with files and names of its own, adapted
    meanings.py          what a module's text imports and names, and what is meant by it
    names.py             what of that a person should know of
    statements.py        what it consists of, and what of that are copies of the tests
    submission.py        from a path to the modules that are graded, and the folder that holds them
    cells.py             what the cells of notebooks define, and for which module
    tree.py              the files of a folder or a .zip, or loose ones: names, and reading within bounds

What counts: the contract's modules, further `.py` files that they import relatively, beside them (`.helpers`) or in
folders beside them (`.tools.soft`), and `translations.txt`. Missing modules are taken from the release, the package's
`__init__` always. Without any module, notebooks count. A folder that holds only an archive is read as that archive.
"""
