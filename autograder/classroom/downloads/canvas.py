"""Canvas: loose files, `NAME_LATE_USER_UPLOAD_FILE` with the lower-case name, the user's and the upload's number.

Of names, Canvas keeps letters of any script with their accents and vowel signs, which need not be one character, and
leaves out spaces and punctuation (`sanitize_file_name` in `lib/content_zipper.rb` of instructure/canvas-lms). `LATE_`
stands there only for late submissions; under anonymous grading NAME is missing and the user is `anon_…`. A text entry
ends with `_text.html`, a URL with `_link.html`. Canvas hands out the last attempt of each student only; a file that was
uploaded before under the same name has got a number, as in `layers-1.py`.
"""

from __future__ import annotations

import re
from collections import defaultdict

from foundation.contract import Contract

from .handed_in import HandedIn, Person, Stray
from .listing import Listing
from .repeated_uploads import LooseFile, gather

OWNER = r"(?:(?P<name>(?!LATE_|anon_)(?:[0-9A-Za-z_]|[^\x00-\x7f])+?)_)?(?P<late>LATE_)?(?P<user>\d+|anon_[A-Za-z0-9]+)"
FILE = re.compile(OWNER + r"_(?P<upload>\d+)_(?P<file>.+)", re.DOTALL)
TEXT = re.compile(OWNER + r"_(?P<kind>text|link)\.html")


def recognises(listing: Listing, contract: Contract) -> bool:
    """Whether most of the files are named as Canvas names them."""
    named = [name for name in listing.files if FILE.fullmatch(name) or TEXT.fullmatch(name)]
    return bool(named) and 2 * len(named) > len(listing.files) + len(listing.folders)


def read(listing: Listing, contract: Contract) -> tuple[list[HandedIn], list[Stray]]:
    """The submissions and the strays."""
    files: dict[str, list[re.Match[str]]] = defaultdict(list)
    strays = [Stray(name, "a folder; Canvas hands out files") for name in listing.folders]
    for name in listing.files:
        if found := FILE.fullmatch(name):
            files[found["user"]].append(found)
        elif found := TEXT.fullmatch(name):
            what = "a text entry" if found["kind"] == "text" else "a link to a web page"
            strays.append(Stray(name, f"{what}, which only a person can read", (person_of(found),)))
        else:
            strays.append(Stray(name, "not named as Canvas names submissions"))
    submissions = []
    for user, uploads in files.items():
        loose = [LooseFile(found[0], found["file"], int(found["upload"])) for found in uploads]
        person = person_of(uploads[0])
        entry = f"{person.name}_{user}".lstrip("_")
        source, notes = gather(entry, listing.path, loose)
        is_late = any(found["late"] for found in uploads)
        submissions.append(HandedIn(entry, source, (person,), entry, is_late, notes=notes))
    return submissions, strays


def person_of(found: re.Match[str]) -> Person:
    """Who handed in a file, by its name."""
    ids = {} if found["user"].startswith("anon_") else {"canvas": found["user"]}
    return Person(found["name"] or "", ids, is_plain=True)
