"""Which files of a submission are used, and that the same files earn the same, however they are packed."""

import os
from pathlib import Path

import pytest

from autograder.intake import IntakeError, IntakeRefusedError, take_in, tree
from autograder.intake.tree import MAX_MODULE_BYTES
from foundation.assignment_file import read_assignment

from .conftest import FORMS, LAYERS, LINK, RELEASE

WORK = {
    "student/layers.py": f"from .mine import x\n{LAYERS}",
    "student/mine.py": "x = 1\n",
    "student/translations.txt": "a b\n",
}
CLUTTER = {
    "nothing": ({}, []),
    "an icon of a Mac": ({"Icon\r": "", "student/Icon\r": ""}, ["skipped: Icon\\r, student/Icon\\r"]),
    "a colon": ({"Screenshot 10:30.png": "", "student/10:30.txt": ""}, []),
    "what a Mac packs along": (
        dict.fromkeys(("__MACOSX/student/._layers.py", "__MACOSX/a:b.png", "__MACOSX/Icon\r", ".DS_Store"), "\0"),
        [],
    ),
    "a mark for writing from right to left": (
        {"\u200fתרגיל.docx": "", "student/notes\u200f.py": "1/0"},
        [
            "ignored, since the assignment's modules do not import them: notes.py",
            "skipped: student/notes\\u200f.py, \\u200fתרגיל.docx",
        ],
    ),
    "names that differ in case": ({"README.md": "a", "readme.md": "b", "student/Layers.PY": "1/0"}, []),
    "names that differ in accents": ({"caf\u00e9.txt": "a", "cafe\u0301.txt": "b"}, ["skipped: caf\u00e9.txt"]),
    "accents as a Mac writes them": ({"re\u0301sume\u0301.pdf": ""}, []),
    "a folder called as a file": ({"old/layers.py/notes.txt": ""}, []),
    "a backslash": ({"notes\\old.txt": "", "C:\\Users\\anna\\todo.txt": ""}, []),
    "links": (
        {"student/data": LINK, "venv/bin/python": LINK, "student/unused.py": LINK},
        ["skipped: student/data, student/unused.py"],
    ),
    "many files": ({f"venv/lib/{number}.py": "" for number in range(200)}, []),
    "a large file": ({"runs/losses.csv": bytes(3_000_000)}, []),
    "a long name": ({"/".join("x" * 100 for _ in range(6)): ""}, []),
    "deep folders": ({"a/" * 30 + "layers.py": "1/0"}, []),
}


@pytest.mark.parametrize("clutter", CLUTTER)
@pytest.mark.parametrize("form", FORMS)
def test_clutter_changes_nothing(pack, take, form, clutter):
    files, notes = CLUTTER[clutter]
    intake = take(pack({**files, **WORK}, form))
    assert intake.submitted == {"layers", "mine"} and intake.translations == b"a b\n"
    assert {intake.sources[name] for name in intake.submitted} == {
        ("layers.py", WORK["student/layers.py"]),
        ("mine.py", "x = 1\n"),
    }
    assert intake.hashes.keys() - {"anna.zip"} == {"layers.py", "mine.py", "translations.txt"}
    assert intake.notes == notes


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/passwd", "student/../../outside.txt", "..\\outside.txt"])
def test_what_leads_elsewhere_is_skipped_and_never_unpacked(pack, take, tmp_path, name):
    intake = take(pack({name: "1/0", **WORK}, "zip"))
    assert intake.submitted == {"layers", "mine"}
    assert [note for note in intake.notes if note.startswith("skipped: ")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["anna.zip"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../layers.py", "leads out of the archive"),
        ("a/../../layers.py", "leads out of the archive"),
        ("..\\layers.py", "leads out of the archive"),
        ("./" * 80 + "../layers.py", "leads out of the archive"),
        ("/layers.py", "is an absolute path"),
        ("C:\\student\\layers.py", "is an absolute path"),
    ],
)
def test_what_leads_elsewhere_is_refused_where_it_is_used(pack, reason, name, why):
    assert why in reason(pack({name: LAYERS}, "zip"))


@pytest.mark.parametrize("name", ["student/layers.py", "student/mine.py", "student/work.ipynb", "student", "work.zip"])
@pytest.mark.parametrize("form", FORMS)
def test_links_are_refused_where_they_are_used(pack, reason, form, name):
    files = WORK if name.endswith(".py") else {}
    if name != "work.zip" or form == "folder":
        assert "it is a symbolic link; hand in ordinary files" in reason(pack({**files, name: LINK}, form))


@pytest.mark.parametrize("form", FORMS)
def test_what_is_used_must_be_readable(pack, take, reason, form):
    intake = take(pack({**WORK, "student/translations.txt": LINK}, form))
    assert intake.translations is None
    assert intake.translations_problem == "translations.txt: it is a symbolic link; hand in ordinary files"


@pytest.mark.parametrize("form", FORMS)
def test_what_is_too_large_is_refused(pack, reason, form):
    large = {"student/mine.py": "#" * MAX_MODULE_BYTES + "\n"}
    assert f"'student/mine.py': it has {MAX_MODULE_BYTES + 1:,} bytes" in reason(pack({**WORK, **large}, form))


@pytest.mark.parametrize("form", FORMS)
def test_names_are_read_as_people_see_them(pack, take, form):
    intake = take(pack({name.replace("/", "\\"): content for name, content in WORK.items()}, form))
    assert intake.submitted == {"layers", "mine"} and intake.translations and intake.notes == []


@pytest.mark.parametrize("form", FORMS)
def test_unseen_characters_and_accents_in_names_that_are_used(pack, take, form):
    intake = take(pack({"layers.py\r": f"from .cafe\u0301 import x\n{LAYERS}", "cafe\u0301.py": ""}, form))
    assert intake.submitted == {"layers", "caf\u00e9"} and "'layers.py\\r' was read as 'layers.py'" in intake.notes


@pytest.mark.parametrize("pattern", ["{}-1", "{}-2", "{} (1)", "{}(1)", "{} (2)-1"])
@pytest.mark.parametrize("form", FORMS)
def test_what_an_upload_renamed_gets_its_name_back(pack, take, form, pattern):
    files = {
        "layers.py": f"from . import mine\nfrom .more import y\nfrom .tools.soft import z\n{LAYERS}",
        "mine.py": "import importlib\nimportlib.import_module('.late', __package__)\n",
        **dict.fromkeys(("more.py", "tools/soft.py", "late.py", "translations.txt"), "y = 1\n"),
    }
    renamed = {}
    for name, content in files.items():
        path = Path(name)
        renamed[str(path.with_name(pattern.format(path.stem) + path.suffix))] = content
    intake = take(pack(renamed, form))
    assert intake.submitted == {"layers", "mine", "more", "tools.soft", "late"}
    assert {intake.sources[name][0] for name in intake.submitted} == {name for name in files if name.endswith(".py")}
    assert intake.translations == b"y = 1\n"
    assert intake.hashes.keys() - {"anna.zip"} == {*files}


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
    intake = take(pack({f"layers ({number}).py": f"number = {number}\n" for number in (2, 10, 9)}, form))
    assert intake.sources["layers"] == ("layers.py", "number = 10\n")
    assert "'layers (10).py' was read as 'layers.py'" in intake.notes


def test_modules_come_from_the_submission_else_from_the_release(pack, take):
    intake = take(pack({"layers.py": LAYERS, "translations.txt": "a b\n", "experiment.py": "1/0", "README.md": ""}))
    assert intake.name == "anna" and intake.submitted == {"layers"} and intake.notes == []
    assert intake.sources["layers"] == ("layers.py", LAYERS)
    assert intake.sources["attention"] == ("attention.py", RELEASE["attention"])
    assert intake.translations == b"a b\n" and sorted(intake.hashes) == ["layers.py", "translations.txt"]
    # What no module of the contract imports is not part of the package, be it the release's.
    assert "experiment" not in intake.sources and "config" in intake.sources


def test_translations_alone_are_a_submission(pack, take):
    intake = take(pack({"translations.txt": "a\n"}))
    assert intake.translations == b"a\n" and not intake.submitted and "layers" in intake.sources


@pytest.mark.parametrize("place", ["", "student/", "anna/", "anna/student/", "student/student/"])
@pytest.mark.parametrize("form", FORMS)
def test_the_place_is_found(pack, take, form, place):
    intake = take(pack({f"{place}layers.py": LAYERS}, form))
    assert (intake.name, intake.submitted, intake.sources["layers"][1]) == ("anna", {"layers"}, LAYERS)


NOWHERE = "none of the assignment's files (embedding.py, attention.py, layers.py, …"


@pytest.mark.parametrize(
    "files, words",
    [
        ({}, NOWHERE),
        ({"__MACOSX/layers.py": LAYERS}, NOWHERE),
        ({"a/b/layers.py": "", "a/b/model.py": ""}, "too deep in it, in 'a/b/' (layers.py, model.py); hand in that"),
        (
            {"layers.py": "", "student/layers.py": "", "student/attention.py": ""},
            "in 2 places, in the top folder (layers.py) and in 'student/' (attention.py, layers.py); hand",
        ),
        ({"anna/layers.py": "", "bert/layers.py": ""}, "'anna/' (layers.py) and in 'bert/' (layers.py)"),
        ({"student/layers.py": "", "student/translations.txt": "", "translations.txt": ""}, "two translations.txt"),
        ({"a.zip": "", "b.zip": ""}, "there are other archives (a.zip, b.zip): hand in"),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_what_would_be_right_is_said(pack, reason, form, files, words):
    assert words in reason(pack(files, form))


def test_backups_and_the_rest_of_the_kit_do_no_harm(pack, take):
    intake = take(pack({"layers.py": LAYERS, "old/layers.py": "1/0", "mine/layers.py": "1/0"}))
    assert intake.sources["layers"][1] == LAYERS
    assert intake.notes == ["graded: the files in the top folder; ignored: those in 'mine/', 'old/'"]
    kit = {"student/layers.py": LAYERS, "autograder/tests/conftest.py": "", "Makefile": "", "translations.txt": "x\n"}
    intake = take(pack({f"assignment/{name}": text for name, text in kit.items()}, "zip"))
    assert intake.submitted == {"layers"} and intake.translations == b"x\n" and intake.notes == []


@pytest.mark.parametrize(
    "files, found",
    [
        (["student/layers.py", "student/translations.txt"], True),
        (["student/layers.py", "translations.txt"], True),
        (["layers.py", "student/translations.txt"], True),
        (["anna/student/layers.py", "anna/translations.txt"], True),
        (["anna/translations.txt"], True),
        (["layers.py", "runs/course/translations.txt"], False),
    ],
)
def test_where_translations_may_lie(pack, take, files, found):
    assert (take(pack(dict.fromkeys(files, ""))).translations is not None) == found


@pytest.mark.parametrize("others", [[], ["comment.html"], [".DS_Store"]])
def test_a_folder_around_an_archive(write_folder, write_zip, take, reason, others):
    content = write_zip([("student/layers.py", LAYERS)]).read_bytes()
    folder = write_folder({"work.zip": content, **dict.fromkeys(others, "")})
    intake = take(folder)
    assert intake.name == "anna" and intake.submitted == {"layers"} and "work.zip" in intake.hashes
    (folder / "masks.py").write_text("")
    assert take(folder).submitted == {"masks"}
    (folder / "masks.py").unlink()
    (folder / "work.zip").write_bytes(write_zip([("work.zip", content)]).read_bytes())
    assert "other archives (work.zip)" in reason(folder)


class TestPaths:
    @pytest.mark.parametrize("name, message", [("nowhere", "no such file"), ("x" * 300, "too long")])
    def test_what_is_not_there_is_the_callers_slip(self, tmp_path, release, name, message):
        with pytest.raises(IntakeError, match="(?i)" + message) as caught:
            take_in(tmp_path / name, release, read_assignment())
        assert not isinstance(caught.value, IntakeRefusedError)

    def test_a_release_that_is_none(self, pack, tmp_path):
        with pytest.raises(IntakeError, match="embedding.py is missing") as caught:
            take_in(pack({"layers.py": LAYERS}), tmp_path / "nowhere", read_assignment())
        assert not isinstance(caught.value, IntakeRefusedError)

    @pytest.mark.parametrize(
        "name, content, kind",
        [
            ("anna.zip", b"Rar!", "none of these"),
            ("a.zip", b"", "empty"),
            ("b.tar.gz", b"BZh9", "none of these"),
        ],
    )
    def test_other_files_are_refused_with_what_would_be_right(self, tmp_path, reason, name, content, kind):
        (tmp_path / name).write_bytes(content)
        expected = f"expected a folder, a .zip or a notebook (.ipynb); this is {kind}"
        assert reason(tmp_path / name).endswith(expected)

    def test_links_and_pipes_are_not_opened(self, pack, tmp_path, reason):
        os.mkfifo(tmp_path / "anna.zip")
        assert "it is a named pipe" in reason(tmp_path / "anna.zip")
        (tmp_path / "link").symlink_to(pack({"layers.py": LAYERS}))
        assert "it is a symbolic link" in reason(tmp_path / "link")
        os.mkfifo(tmp_path / "anna" / "attention.py")
        assert "'attention.py': it is a named pipe" in reason(tmp_path / "anna")

    def test_too_many_entries(self, pack, take, reason, monkeypatch):
        monkeypatch.setattr(tree, "MAX_ENTRIES", 10)
        hidden = {f".git/{i}": "" for i in range(20)}
        assert take(pack({"layers.py": LAYERS, **hidden})).submitted == {"layers"}
        assert "more than 10 files" in reason(pack({f"{i}.txt": "" for i in range(11)}))
