"""Learning platforms, a module each: what their downloads and rosters look like, and what they import.

    handed_in.py    submissions, people, strays, times    platform.py   the parts of a platform
    download.py     all of them; whose a download is      git.py        clones from any host
    blackboard.py   brightspace.py   canvas.py   gradescope.py   moodle.py   nbgrader.py

Another platform is one more module, and its line in `download.PLATFORMS`.
"""
