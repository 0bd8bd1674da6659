"""Public corpora from their own sites: `fetch`.

    corpora.toml    the table: what each corpus is, where it lies, its licence, what to do next
    folder.py       reading the table; what is there, checksums, plain text out of archives
    download.py     one file by HTTP: resumed, tried again        commands.py   the command line

Nothing here knows how a corpus is prepared; the table only names the command.
"""
