"""Clones of git repositories, from Classroom 50, GitLab, Gitea or any other host, in one folder.

A clone's folder is named `PREFIX-USERNAME`, as `CLASSROOM-ASSIGNMENT-USERNAME` on Classroom 50, or after the user.
GitHub's old `gh classroom` names the folder around them `ASSIGNMENT-submissions`.

A submission is the working tree, handed in when its last commit was made; before a deadline, the files of the last
commit before it. Dates of commits are their author's word. A clone is a student's, and its configuration can name
programs for git to run: so git gets an empty repository of ours, and of the clone only the store of objects.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from foundation.command_line import UserError

from ..intake.sources import IntakeError, RefusedError
from ..intake.tree import ARCHIVES, LIMITS, MAX_ARCHIVE_BYTES, read_file
from .handed_in import HandedIn, Listing, Person, Stray
from .platform import Platform, Read

SECONDS = 60.0
MOST_REFERENCES = 10_000_000
BRANCH = re.compile(r"ref: (refs/heads/[\w/+-][\w./+-]{0,200})")
HASH = re.compile(r"[0-9a-f]{40}")
READ = (*LIMITS, *ARCHIVES)
NOTE = "times are those of commits, and so the word of whoever made them; the host's list of pushes has its own"


def recognises_clones(listing: Listing) -> bool:
    """True if most folders are clones."""
    return 2 * len(clones_in(listing)) > len(listing.folders)


def read_clones(listing: Listing, deadline: datetime | None = None) -> Read:
    """The clones, and folders that are named as they are."""
    clones = clones_in(listing)
    prefix = prefix_of(clones or listing.folders, listing.path)
    strays = [Stray(name, "a file beside the clones") for name in listing.files]
    submissions = []
    for name in listing.folders:
        folder = listing.path / name
        person = Person("", {"github": name.removeprefix(prefix)})
        if not name.startswith(prefix):
            strays.append(Stray(name, f"not named {prefix}… as the others are"))
            continue
        time, unread = None, "no .git in it" if deadline and name not in clones else ""
        if name in clones:
            try:
                folder, time, last = submission_in(folder, deadline)
                if time is None:
                    strays.append(Stray(name, "no commit before the deadline"))
                    continue
                if time != last:
                    strays.append(Stray(name, f"committed again after the deadline, last at {last:%Y-%m-%d %H:%M %Z}"))
            except (GitError, IntakeError, RefusedError) as error:
                unread = f"its commits cannot be read: {error}"
        if unread and deadline:
            strays.append(Stray(name, f"{unread}, so it is not known what was there at the deadline", True))
        else:
            submissions.append(HandedIn(name, folder, (person,), name, submitted=time, unread_time=unread))
    return submissions, strays


def clones_in(listing: Listing) -> list[str]:
    """The folders that are git working trees."""
    return [name for name in listing.folders if (listing.path / name / ".git").exists()]


def prefix_of(names: Sequence[str], folder: Path) -> str:
    """The assignment's part of all names, up to a hyphen; "" where there is none for sure.

    It is the folder's own name, if it is as `gh` chose it. Otherwise several users whose names begin alike are
    misread (hw1-ann-lee and hw1-ann-kim), which one more user ends.
    """
    name = folder.resolve().name
    slug = name.removesuffix("-submissions")
    if slug != name and names and all(clone.startswith(f"{slug}-") for clone in names):
        return f"{slug}-"
    prefix = os.path.commonprefix(names) if len(names) > 1 else ""
    return prefix[: prefix.rfind("-") + 1]


class GitError(Exception):
    """A repository that git cannot read, and why."""


def submission_in(clone: Path, deadline: datetime | None) -> tuple[Path, datetime | None, datetime | None]:
    """The submission in a clone, its time, None where nothing was committed before the deadline, and the last commit's.

    Raises: GitError, IntakeError or RefusedError where its repository cannot be read.
    """
    head = head_of(clone / ".git")
    _, last = last_commit(clone, head)
    if deadline is None:
        return clone, last, last
    commit, time = last_commit(clone, head, f"--min-age={int(deadline.timestamp())}")
    return (archive_of(clone, commit) if commit else clone), time, last


def head_of(repository: Path) -> str:
    """The commit that is checked out, read without git."""
    if repository.is_symlink() or not repository.is_dir():
        raise GitError(".git is not a folder")
    objects = repository / "objects"
    if os.path.lexists(objects / "info" / "alternates") or objects.is_symlink() or (objects / "pack").is_symlink():
        raise GitError("it borrows objects from another repository")
    text = read_file(repository / "HEAD", 1000).decode("utf-8", "replace").strip()
    if branch := BRANCH.fullmatch(text):
        name = branch[1]
        if os.path.lexists(repository / name) and ".." not in name:
            text = read_file(repository / name, 1000).decode("utf-8", "replace").strip()
        elif os.path.lexists(repository / "packed-refs"):
            packed = read_file(repository / "packed-refs", MOST_REFERENCES).decode("utf-8", "replace").splitlines()
            text = next((line[:40] for line in packed if line[40:] == f" {name}"), "")
    if not HASH.fullmatch(text):
        raise GitError("it has no commit, or HEAD is none of git's")
    return text


def last_commit(clone: Path, head: str, *options: str) -> tuple[str, datetime | None]:
    """The last commit of the branch, and its date; "" and None where there is none."""
    words = git(clone, "rev-list", "--first-parent", "--timestamp", "--max-count=1", *options, head, "--").split()
    if len(words) != 2:
        return "", None
    try:
        return words[1].decode(), datetime.fromtimestamp(int(words[0]), UTC)
    except (OverflowError, ValueError, OSError):
        raise GitError("the date of its last commit is none") from None


def archive_of(clone: Path, commit: str) -> Path:
    """An archive of what intake reads of a commit's files, each as it was stored."""
    path = workplace() / f"{clone.name}-{commit[:12]}.zip"
    members: list[tuple[str, str, int]] = []
    for line in filter(None, git(clone, "ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0")):
        about, _, name = line.partition(b"\t")
        mode, kind, digest, size = about.decode().split()
        member = name.decode("utf-8", "surrogateescape").encode("utf-8", "replace").decode()
        if kind == "blob" and mode != "120000" and member.endswith(READ):
            members.append((member, digest, int(size)))
    if sum(size for *_, size in members) > MAX_ARCHIVE_BYTES:
        raise GitError(f"its files have more than {MAX_ARCHIVE_BYTES:,} bytes")
    asked = "".join(f"{digest}\n" for _, digest, _ in members)
    content, at = git(clone, "cat-file", "--batch", read=asked.encode()), 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, _, length in members:
            end = content.index(b"\n", at)
            about, at = content[at:end], end + 1
            if not about.endswith(f" blob {length}".encode()):
                raise GitError(f"{member} cannot be read")
            archive.writestr(zipfile.ZipInfo(member), content[at : at + length])
            at += length + 1  # a line end follows the file
    return path


@cache
def workplace() -> Path:
    """A folder for this run: an empty repository, and archives of earlier commits."""
    folder, owner = Path(tempfile.mkdtemp(prefix="clones-")), os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)
    for name in ("empty/objects", "empty/refs"):
        (folder / name).mkdir(parents=True)
    (folder / "empty" / "HEAD").write_text("ref: refs/heads/none\n")
    return folder


def git(clone: Path, *arguments: str, read: bytes = b"") -> bytes:
    """The output of a command of git on the objects of a clone; it may read something.

    Raises: GitError; UserError where there is no git.
    """
    repository = (clone / ".git").resolve()
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(workplace()),
        "GIT_DIR": str(workplace() / "empty"),
        "GIT_OBJECT_DIRECTORY": str(repository / "objects"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    if (repository / "shallow").is_file():
        environment["GIT_SHALLOW_FILE"] = str(repository / "shallow")
    command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", *arguments]
    try:
        done = subprocess.run(  # noqa: S603  a fixed program; arguments are hashes and options
            command, input=read, env=environment, cwd=workplace(), capture_output=True, timeout=SECONDS
        )
    except FileNotFoundError:
        raise UserError("git is not installed; commits of clones cannot be read without it") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git took longer than {SECONDS:g} s") from None
    if done.returncode:
        raise GitError(done.stderr.decode("utf-8", "replace").strip().partition("\n")[0][:120] or "git failed")
    return done.stdout


GIT = Platform(
    "clones of git repositories",
    recognises_clones,
    read_clones,
    ids={"github": ("github_username", "github username", "github")},
    are_logins=True,
    marks_roster=frozenset({"github_id"}),
    columns={"github": ("github_username", "username")},  # of Classroom 50, and of the old GitHub Classroom
    note=NOTE,
    before=read_clones,
)
