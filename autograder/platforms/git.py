"""Clones of git repositories, from Classroom 50, GitLab, Gitea or any other host, in one folder.

A clone's folder is named `PREFIX-USERNAME`, as `CLASSROOM-ASSIGNMENT-USERNAME` on Classroom 50, or after the user. Of a
group it may have the group's name.

A submission is the working tree, handed in when its last commit was made; before a deadline, the files of the last
commit before it. Dates of commits are their author's word. A clone is a student's, and its configuration can name
programs for git to run: so it is cloned once more, which git does with repositories that are not trusted
(`git-upload-pack`), and commits are read in ours.
"""

import atexit
import os
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from foundation.command_line import UserError

from ..intake.tree import ARCHIVES, LIMITS, MAX_ARCHIVE_BYTES, problem_of
from .platform import HandedIn, Listing, Person, Platform, Read, Stray, holds_a_submission

SECONDS = 60.0
MOST_BYTES = 2 * MAX_ARCHIVE_BYTES  # of an archive, and of a list of files
READ = (*LIMITS, *ARCHIVES)
NOTE = "times are those of commits, and so the word of whoever made them; the host's list of pushes has its own"
CONFIG = "[safe]\n directory = *\n[core]\n hooksPath = /dev/null\n fsmonitor = false\n"
ATTRIBUTES = "* -export-ignore -export-subst -filter -ident -text -working-tree-encoding\n"
"""Files are taken as they were stored, whatever a student's own attributes say."""


def read_clones(listing: Listing, deadline: datetime | None = None) -> Read:
    """The clones, and folders that are named as they are."""
    clones = _clones_in(listing)
    prefix = _prefix_of(clones or listing.folders)
    strays = [Stray(name, "a file beside the clones", holds_a_submission(name)) for name in listing.files]
    submissions = []
    for name in listing.folders:
        folder = listing.path / name
        person = Person("", {"github": name.removeprefix(prefix)})
        if not name.startswith(prefix):
            strays.append(Stray(name, f"not named {prefix}… as the others are", needs_decision=True))
            continue
        time, unread = None, "no .git in it" if deadline and name not in clones else ""
        if name in clones:
            try:
                folder, time, last = submission_in(folder, deadline)
                if time is None:
                    strays.append(Stray(name, "no commit before the deadline", people=(person,)))
                    continue
                if time != last:
                    strays.append(Stray(name, f"committed again after the deadline, last at {last:%Y-%m-%d %H:%M %Z}"))
            except (GitError, OSError) as error:
                unread = f"its commits cannot be read: {getattr(error, 'strerror', None) or error}"
        if unread and deadline:
            strays.append(Stray(name, f"{unread}, so it is not known what was there at the deadline", True, (person,)))
        else:
            submissions.append(HandedIn(name, folder, (person,), name, submitted=time, unread_time=unread))
    return submissions, strays


def _clones_in(listing: Listing) -> list[str]:
    return [name for name in listing.folders if os.path.lexists(listing.path / name / ".git")]


def _recognises(listing: Listing) -> bool:
    """True if most entries are clones."""
    return 2 * len(_clones_in(listing)) > len(listing.folders) + sum(map(holds_a_submission, listing.files))


def _prefix_of(names: Sequence[str]) -> str:
    """The assignment's part of most names, up to a hyphen; "" where there is none for sure.

    Several users whose names begin alike are misread (hw1-ann-lee and hw1-ann-kim), which one more user ends.
    """
    starts = Counter(name.partition("-")[0] for name in names)
    [(start, count), *_] = starts.most_common() or [("", 0)]
    if count < 2 or 2 * count <= len(names):
        return ""
    prefix = os.path.commonprefix([name for name in names if name.partition("-")[0] == start])
    return prefix[: prefix.rfind("-") + 1]


class GitError(Exception):
    """A repository that git cannot read, and why."""


def submission_in(clone: Path, deadline: datetime | None) -> tuple[Path, datetime | None, datetime]:
    """The submission in a clone, its time, None if nothing was in time, and the last commit's. Raises: GitError."""
    if (clone / ".git").is_symlink() or not (clone / ".git").is_dir():
        raise GitError(".git is not a folder")
    borrowed = ("commondir", "objects/info/alternates", "objects/info/http-alternates")
    if any(os.path.lexists(clone / ".git" / name) for name in borrowed):
        raise GitError("it borrows from another repository")
    for folder, inner, files in os.walk(clone / ".git", onerror=_stop):
        for name in (*inner, *files):
            mode = os.lstat(os.path.join(folder, name)).st_mode  # noqa: PTH118  there may be many
            if not stat.S_ISDIR(mode) and problem_of(mode):
                raise GitError("a link or another special file lies in .git")
    copy = Path(tempfile.mkdtemp(dir=_workplace()))
    git(copy, "clone", "--quiet", "--bare", "--no-local", "--no-tags", str(clone.resolve()), str(copy))
    (copy / "info" / "attributes").write_text(ATTRIBUTES)
    log = ("log", "--first-parent", "--max-count=1", "--format=%H %ct")
    try:
        _, last = _commit_in(git(copy, *log, "HEAD"))
        if deadline is None:
            return clone, last, last
        if not (before := git(copy, *log, f"--min-age={int(deadline.timestamp())}", "HEAD")):
            return clone, None, last
        commit, time = _commit_in(before)
    except (ValueError, OverflowError, OSError):
        raise GitError("the date of its last commit is none") from None
    names = git(copy, "ls-tree", "-r", "--name-only", "-z", "--full-tree", commit)
    named = [f"*{ending}" for ending in READ if f"{ending}\0" in names]  # a command takes few names
    archive = copy.with_suffix(".zip")
    git(copy, "archive", f"--output={archive}", commit, "--", *named)
    return archive, time, last


def _stop(error: OSError) -> None:
    raise error


def _commit_in(line: str) -> tuple[str, datetime]:
    commit, seconds = line.split()
    return commit, datetime.fromtimestamp(int(seconds), UTC)


@cache
def _workplace() -> Path:
    """A folder for this run: git's configuration, and our clones."""
    folder, owner = Path(tempfile.mkdtemp(prefix="clones-")), os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)
    (folder / "config").write_text(CONFIG)
    return folder


def git(repository: Path, *arguments: str) -> str:
    """The output of a command of git in a repository of ours. Raises: GitError; UserError where there is no git."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(_workplace()),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(_workplace() / "config"),
        "GIT_ALLOW_PROTOCOL": "file",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    try:
        with tempfile.TemporaryFile(dir=_workplace()) as output:
            done = subprocess.run(  # noqa: S603  a fixed program
                ["git", *arguments],  # noqa: S607  found by the search path
                env=environment,
                cwd=repository,
                stdout=output,
                stderr=subprocess.PIPE,
                timeout=SECONDS,
                preexec_fn=None if "clone" in arguments else _bound,  # noqa: PLW1509  there are no threads
            )
            output.seek(0)
            printed = output.read()
    except FileNotFoundError:
        raise UserError("git is not installed; commits of clones cannot be read without it") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git took longer than {SECONDS:g} s") from None
    if done.returncode == -signal.SIGXFSZ:
        raise GitError(f"its files, or their names, have more than {MOST_BYTES:,} bytes")
    if done.returncode:
        raise GitError(done.stderr.decode("utf-8", "replace").strip().partition("\n")[0][:120] or "git failed")
    return printed.decode("utf-8", "surrogateescape").strip()


def _bound() -> None:
    """Limits what a command writes: a few kilobytes of commits can name billions of files."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, MOST_BYTES))


GIT = Platform(
    "clones of git repositories",
    _recognises,
    read_clones,
    note=NOTE,
    before=read_clones,
)
