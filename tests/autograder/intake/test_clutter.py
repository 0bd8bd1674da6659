"""The same files earn the same, however they are packed: only what is used must be safe, the rest is skipped."""

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.intake.size_limits import MAX_MODULE_BYTES

from .conftest import LAYERS

FORMS = ("folder", "zip", "tar.gz")
LINK = object()
WORK = {
    "student/layers.py": f"from .mine import x\n{LAYERS}",
    "student/mine.py": "x = 1\n",
    "student/translations.txt": "a b\n",
}
CLUTTER = {
    "nothing": {},
    "an icon of a Mac": {"Icon\r": "", "student/Icon\r": ""},
    "a colon": {"Screenshot 10:30.png": "", "student/10:30.txt": ""},
    "what a Mac packs along": {
        "__MACOSX/student/._layers.py": "\0",
        "__MACOSX/Screenshot 10:30.png": "",
        ".DS_Store": "",
    },
    "a mark for writing from right to left": {"\u200fתרגיל.docx": "", "student/notes\u200f.py": "1/0"},
    "names that differ in case": {"README.md": "a", "readme.md": "b", "student/Layers.PY": "1/0"},
    "names that differ in accents": {"caf\u00e9.txt": "a", "cafe\u0301.txt": "b"},
    "a folder called as a file": {"old/layers.py/notes.txt": ""},
    "a backslash": {"notes\\old.txt": "", "C:\\Users\\anna\\todo.txt": ""},
    "links": {"student/data": LINK, "venv/bin/python": LINK, "student/unused.py": LINK},
    "many files": {f"venv/lib/{number}.py": "" for number in range(200)},
    "a large file": {"runs/losses.csv": bytes(3_000_000)},
    "a long name": {"/".join("x" * 100 for _ in range(6)): ""},
    "deep folders": {"a/" * 30 + "layers.py": "1/0"},
}
NOTES = {
    "an icon of a Mac": ["skipped: Icon\\r, student/Icon\\r"],
    "a mark for writing from right to left": [
        "ignored, since the assignment's modules do not import them: notes.py",
        "skipped: student/notes\\u200f.py, \\u200fתרגיל.docx",
    ],
    "names that differ in accents": ["skipped: cafe\u0301.txt"],
    "links": ["skipped: student/data, student/unused.py"],
}
ESCAPING = ("../outside.txt", "/etc/passwd", "student/../../outside.txt", "..\\outside.txt")


@pytest.fixture
def pack(tmp_path) -> Callable[[dict, str], Path]:
    """A submission with these files, as a folder or as an archive; LINK stands for a symbolic link."""

    def write(files: dict[str, object], form: str) -> Path:
        path = tmp_path / ("anna" if form == "folder" else f"anna.{form}")
        contents = {name: one.encode() if isinstance(one, str) else one for name, one in files.items()}
        if form == "zip":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, content in contents.items():
                    entry = zipfile.ZipInfo("x")
                    entry.filename = entry.orig_filename = name  # as it is, which the library would make harmless
                    entry.compress_type = zipfile.ZIP_DEFLATED
                    entry.external_attr = ((stat.S_IFLNK if content is LINK else stat.S_IFREG) | 0o644) << 16
                    archive.writestr(entry, b"/etc/passwd" if content is LINK else content)
        elif form == "tar.gz":
            with tarfile.open(path, "w:gz") as archive:
                for name, content in contents.items():
                    header = tarfile.TarInfo(name)
                    if content is LINK:
                        header.type, header.linkname = tarfile.SYMTYPE, "/etc/passwd" + "/x" * 80
                        archive.addfile(header)
                    else:
                        header.size = len(content)
                        archive.addfile(header, io.BytesIO(content))
        else:
            for name, content in contents.items():
                file = path / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.symlink_to("/etc/passwd") if content is LINK else file.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize("clutter", CLUTTER)
@pytest.mark.parametrize("form", FORMS)
def test_clutter_changes_nothing(pack, take, form, clutter):
    alone, beside = take(pack(WORK, "tar.gz")), take(pack(CLUTTER[clutter] | WORK, form))
    assert (beside.sources, beside.submitted) == (alone.sources, alone.submitted)
    assert beside.submitted == {"layers", "mine"} and beside.translations == b"a b\n"
    assert beside.hashes.keys() - {"anna.zip", "anna.tar.gz"} == {"layers.py", "mine.py", "translations.txt"}
    assert beside.notes == NOTES.get(clutter, [])


@pytest.mark.parametrize("form", FORMS)
def test_what_cannot_be_read_as_it_stands_is_listed(pack, take, form):
    files = {"Icon\r": "", "student/data": LINK, "notes\u200f.txt": "", "__MACOSX/Icon\r": ""}
    notes = take(pack(files | WORK, form)).notes
    assert notes == ["skipped: Icon\\r, notes\\u200f.txt, student/data"]


@pytest.mark.parametrize("name", ESCAPING)
@pytest.mark.parametrize("form", FORMS[1:])
def test_what_leads_elsewhere_is_skipped_and_never_unpacked(pack, take, tmp_path, form, name):
    intake = take(pack({name: "1/0"} | WORK, form))
    assert intake.submitted == {"layers", "mine"}
    assert [note for note in intake.notes if note.startswith("skipped: ")]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"anna.{form}"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../layers.py", "leads out of the archive"),
        ("a/../../layers.py", "leads out of the archive"),
        ("..\\layers.py", "leads out of the archive"),
        ("/layers.py", "is an absolute path"),
        ("/student/layers.py", "is an absolute path"),
        ("C:\\student\\layers.py", "is an absolute path"),
    ],
)
@pytest.mark.parametrize("form", FORMS[1:])
def test_what_leads_elsewhere_is_refused_where_it_is_used(pack, reason, form, name, why):
    assert why in reason(pack({name: LAYERS}, form))


@pytest.mark.parametrize("name", ["student/layers.py", "student/mine.py", "student/work.ipynb", "student"])
@pytest.mark.parametrize("form", FORMS)
def test_links_are_refused_where_they_are_used(pack, reason, form, name):
    files = {} if name in ("student", "student/work.ipynb") else WORK
    assert "it is a symbolic link; hand in ordinary files" in reason(pack({**files, name: LINK}, form))


@pytest.mark.parametrize("form", FORMS)
def test_translations_behind_a_link_are_not_read(pack, take, form):
    intake = take(pack({**WORK, "student/translations.txt": LINK}, form))
    assert intake.translations is None
    assert intake.translations_problem == "translations.txt: it is a symbolic link; hand in ordinary files"


@pytest.mark.parametrize("form", FORMS)
def test_names_that_differ_in_case_matter_where_both_are_used(pack, reason, form):
    files = {**WORK, "student/Mine.py": "", "student/layers.py": f"from . import mine, Mine\n{LAYERS}"}
    assert "differ only in case; rename one" in reason(pack(files, form))


@pytest.mark.parametrize("form", FORMS)
def test_a_large_module_is_not_read(pack, reason, form):
    files = {**WORK, "student/mine.py": "#" * MAX_MODULE_BYTES + "\n"}
    assert f"'student/mine.py': it has {MAX_MODULE_BYTES + 1:,} bytes; at most" in reason(pack(files, form))


@pytest.mark.parametrize("form", FORMS)
def test_a_backslash_stands_between_folders(pack, take, form):
    files = {name.replace("/", "\\"): content for name, content in WORK.items()}
    intake = take(pack(files, form))
    assert intake.submitted == {"layers", "mine"} and intake.translations and intake.notes == []


@pytest.mark.parametrize("form", FORMS)
def test_accents_may_be_written_either_way(pack, take, form):
    files = {"layers.py": f"from .cafe\u0301 import x\n{LAYERS}", "cafe\u0301.py": ""}
    assert take(pack(files, form)).submitted == {"layers", "caf\u00e9"}


@pytest.mark.parametrize("form", FORMS)
def test_unseen_characters_in_a_name_that_is_used(pack, take, form):
    intake = take(pack({"layers.py\r": LAYERS}, form))
    assert intake.submitted == {"layers"} and intake.notes == ["'layers.py\\r' was read as 'layers.py'"]


RENAMED = {
    "Canvas, second upload": "{}-1",
    "Canvas, third upload": "{}-2",
    "a browser": "{} (1)",
    "another browser": "{}(1)",
    "both": "{} (2)-1",
}


@pytest.mark.parametrize("pattern", RENAMED.values(), ids=RENAMED)
@pytest.mark.parametrize("form", FORMS)
def test_what_an_upload_renamed_gets_its_name_back(pack, take, form, pattern):
    files = {
        "layers.py": f"from . import mine\nfrom .more import y\nfrom .tools.soft import z\n{LAYERS}",
        "mine.py": "import importlib\nimportlib.import_module('.late', __package__)\n",
        **dict.fromkeys(("more.py", "tools/soft.py", "late.py", "translations.txt", "best.pt"), "y = 1\n"),
    }
    renamed = {}
    for name, content in files.items():
        path = Path(name)
        renamed[str(path.with_name(pattern.format(path.stem) + path.suffix))] = content
    before, after = take(pack(files, "tar.gz")), take(pack(renamed, form))
    assert before.submitted == {"layers", "mine", "more", "tools.soft", "late"}
    assert (after.sources, after.translations, after.checkpoint) == (before.sources, b"y = 1\n", b"y = 1\n")
    assert {**before.hashes, **after.hashes}.keys() - {"anna.zip", "anna.tar.gz"} == {*files}


@pytest.mark.parametrize("form", FORMS)
def test_a_name_of_its_own_stays(pack, take, form):
    imports = "from importlib import import_module\nimport_module('.mine-1', __package__)\nfrom . import mine\n"
    files = {"layers.py": imports + LAYERS, "layers-1.py": "1/0", "mine-1.py": "own = 1\n", "mine.py": "plain = 1\n"}
    intake = take(pack(files, form))
    assert intake.sources["layers"][1] == files["layers.py"]
    assert intake.sources["mine-1"][1] == "own = 1\n" and intake.sources["mine"][1] == "plain = 1\n"
    assert intake.notes == ["ignored, since the assignment's modules do not import them: layers-1.py"]


@pytest.mark.parametrize("form", FORMS)
def test_of_several_copies_the_last_counts(pack, take, form):
    files = {f"layers ({number}).py": f"number = {number}\n" for number in (2, 10, 9)}
    intake = take(pack(files, form))
    assert intake.sources["layers"] == ("layers.py", "number = 10\n")
    assert "'layers (10).py' was read as 'layers.py'" in intake.notes
