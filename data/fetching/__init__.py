"""Public corpora from their own sites: `fetch`.

    corpora.toml    the table: what each corpus is, where it lies, its licence, what to do next
    commands.py     reading the table; the command line
    download.py     one file by HTTP: resumed, tried again, checked; plain text out of archives

Nothing here knows how a corpus is prepared; the table only names the command.
"""
