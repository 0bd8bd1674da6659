"""Learning platforms, a module each: what their downloads and rosters look like, and what they import.

platform.py   what a platform is      download.py   all of them; whose download a folder is
git.py        clones from any host
"""
