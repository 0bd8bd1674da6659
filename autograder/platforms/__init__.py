"""Learning platforms, a module each: what their downloads and rosters look like, and what they import.

    platform.py     submissions, people, times; the parts of a platform      git.py   clones from any host
    download.py     all of them; whose a download is
    blackboard.py   brightspace.py   canvas.py   gradescope.py   moodle.py   nbgrader.py

Another platform is one more module, its line in `download.PLATFORMS`, and the headings of its list of students in
`classroom/headings.toml`.
"""
