"""Public corpora from their own sites: `fetch`.

    corpora.toml    the table: what each corpus is, where it lies, its licence, what to do next
    table.py        reading the table              download.py    one file by HTTP: resumed, tried again
    folder.py       what is there, checksums       unpack.py      plain text out of archives
    commands.py     the command line

Nothing here knows how a corpus is prepared; the table only names the command.
"""
