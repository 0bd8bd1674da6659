"""The command `fetch`, and the table of the corpora that it knows."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from foundation.command_line import INTERRUPTED, at_least

from ..files import Commands, CorpusError, output_folder
from .download import check_url, digest, download, write_text

TABLE = Path(__file__).with_name("corpora.toml")
DOWNLOADS = Path("downloads")
RETRIES = 5
EXAMPLES = """examples:
  python -m data fetch                                         list the corpora
  python -m data fetch multi30k-de-en                          into downloads/multi30k-de-en
  python -m data fetch multi30k-de-en --url https://mirror.example/multi30k/     all files from a mirror's folder
  python -m data fetch multi30k-de-en --url val.de.gz=https://mirror.example/v1  one file from elsewhere
A download that broke off is resumed by the same command. Then prepare the corpus: the last line says how.
"""


@dataclass(frozen=True)
class RemoteFile:
    """A file to download: its name on disk, its address and checksum, each empty if none is known."""

    name: str
    url: str
    checksum: str


@dataclass(frozen=True)
class PublicCorpus:
    """An entry of the table; `corpora.toml` says what each field means."""

    name: str
    title: str
    home: str
    licence: str
    citation: str
    format: str
    dataset: str
    prepare: str
    files: tuple[RemoteFile, ...]
    texts: dict[str, list[str]]


def read_table() -> dict[str, PublicCorpus]:
    """Returns the corpora by name."""
    corpora = {}
    for name, entry in tomllib.loads(TABLE.read_text(encoding="utf-8")).items():
        files = tuple(RemoteFile(**file) for file in entry.pop("files"))
        corpora[name] = PublicCorpus(name=name, files=files, texts=entry.pop("texts", {}), **entry)
    return corpora


def add_fetch_command(commands: Commands) -> None:
    """Adds it."""
    parser = commands.add_parser(
        "fetch",
        help="download a public corpus",
        description="Downloads a public corpus from its own site, checks it, and unpacks its plain text.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run_fetch)
    parser.add_argument("name", nargs="?", choices=tuple(read_table()), metavar="NAME", help="none: list the corpora")
    parser.add_argument(
        "--output", type=output_folder, metavar="DIR", help=f"folder for the files (default: {DOWNLOADS}/NAME)"
    )
    parser.add_argument(
        "--url",
        action="append",
        default=[],
        metavar="URL",
        help="where to get it from: a folder (ends in /), FILE=URL, or the URL of a corpus' only file; may be repeated",
    )
    parser.add_argument(
        "--retries",
        type=at_least(0, 100),
        default=RETRIES,
        metavar="N",
        help=f"further attempts after one that brought nothing new (default: {RETRIES})",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run_fetch(options: argparse.Namespace) -> int:
    """Downloads what is missing and prints what to do next."""
    if options.name is None:
        if options.url or options.output:
            raise CorpusError(f"--{'url' if options.url else 'output'}: name the corpus too")
        return _list_corpora(options.json)
    try:
        return _fetch(options)
    except KeyboardInterrupt:
        print("stopped; the same command resumes", file=sys.stderr)
        return INTERRUPTED


def _fetch(options: argparse.Namespace) -> int:
    corpus = read_table()[options.name]
    urls = _choose_urls(corpus, options.url)
    folder = options.output or DOWNLOADS / corpus.name
    missing = [file for file in corpus.files if not _is_there(folder / file.name, file.checksum)]
    for file in missing:
        if not urls[file.name]:
            other = f", or: python -m data prepare {corpus.dataset}" if corpus.dataset else ""
            raise CorpusError(f"{file.name}: no stable address is known; give one with --url{other}")
    report = sys.stderr if options.json else sys.stdout
    about = [f"{corpus.name}: {corpus.title}", f"licence: {corpus.licence}", f"citation: {corpus.citation}"]
    print("\n".join([*about, f"home: {corpus.home}"]), file=report, flush=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise CorpusError(f"{folder}: cannot write: {problem.strerror or problem}") from None
    for file in missing:
        download(urls[file.name], folder / file.name, file.checksum, options.retries)
    texts = [name for name in corpus.texts if not (folder / name).exists()]
    for name in texts:
        write_text(folder, corpus.texts[name], folder / name)
    new = [*(file.name for file in missing), *texts]
    names = [*(file.name for file in corpus.files), *corpus.texts]
    following = corpus.prepare.replace("{folder}", shlex.quote(str(folder)))
    if options.json:
        found = {"folder": str(folder), "files": names, "new": new, "next": following}
        print(json.dumps({**_described(corpus), **found}))
    else:
        print(f"{folder}: {len(new)} of {len(names)} files are new\nnext: {following}")
    return 0


def _is_there(path: Path, checksum: str) -> bool:
    """Whether a file was fetched already. Raises: CorpusError if another one is in its place."""
    if path.exists() and checksum and digest(path, checksum) != checksum:
        raise CorpusError(f"{path}: not as in the table of corpora; move it away, or choose another --output")
    return path.exists()


def _choose_urls(corpus: PublicCorpus, given: list[str]) -> dict[str, str]:
    """The address of each file: the table's, unless `--url` names another."""
    urls = {file.name: file.url for file in corpus.files}
    single: dict[str, str] = {}
    for text in given:
        name, equals, url = text.partition("=")
        if equals and name in urls:
            single[name] = url
        elif text.endswith("/"):
            url = text
            urls = {name: text + name for name in urls}
        elif len(urls) == 1:
            url = single[corpus.files[0].name] = text
        else:
            raise CorpusError(
                f"--url {text!r}: {corpus.name} has {len(urls)} files; write FILE=URL, or a folder's URL/"
            )
        check_url(url)
    return urls | single


def _described(corpus: PublicCorpus) -> dict[str, str]:
    """What a user should know of a corpus."""
    fields = ("title", "home", "licence", "citation", "format", "dataset")
    return {"corpus": corpus.name, **{name: getattr(corpus, name) for name in fields}}


def _list_corpora(as_json: bool) -> int:
    corpora = read_table()
    if as_json:
        print(json.dumps([_described(corpus) for corpus in corpora.values()]))
        return 0
    for corpus in corpora.values():
        print(f"{corpus.name}\n  {corpus.title}\n  licence: {corpus.licence}\n  format: {corpus.format}")
        if corpus.dataset:
            print(f"  or: python -m data prepare {corpus.dataset}")
    return 0
