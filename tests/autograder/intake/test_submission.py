"""Which files of a submission are used, and that the same files earn the same, however they are packed."""

import os
from unittest.mock import Mock

import pytest

from autograder.grading.judging import left_to_people
from autograder.grading.record import content_hash
from autograder.intake import tree
from autograder.intake.sources import IntakeError
from autograder.intake.submission import MAX_MODULES, IntakeRefusedError, take_in
from autograder.intake.tree import LIMITS, MAX_MODULE_BYTES, TRANSLATIONS
from autograder.testing.results import State
from foundation.assignment_file import read_assignment
from foundation.places import ANSWERS, SKELETON

from ..conftest import examples_in
from .conftest import LAYERS, LINK, reason, take

EXAMPLES = examples_in("intake/submissions.toml")
WORK = {
    "student/layers.py": f"from .mine import x\n{LAYERS}",
    "student/mine.py": "x = 1\n",
    "student/translations.txt": "a b\n",
}
CLUTTER = {
    **dict.fromkeys(("__MACOSX/student/._layers.py", "__MACOSX/a:b.png", "student/Icon\r", ".DS_Store"), "\0"),
    **dict.fromkeys(("\u200fתרגיל.docx", "README.md", "readme.md", "student/10:30.txt", "C:\\Users\\todo.txt"), ""),
    "old/layers.py/notes.txt": "a folder called as a file",
    "runs/losses.csv": bytes(3_000_000),
    **{f"venv/lib/{number}.py": "" for number in range(200)},
    **dict.fromkeys(("student/data", "student/unused.py"), LINK),
}


def test_clutter_changes_nothing(pack, form):
    intake = take(pack({**CLUTTER, **WORK}, form))
    assert intake.submitted == {"layers", "mine"} and intake.translations == b"a b\n"
    assert intake.sources["layers"] == ("layers.py", WORK["student/layers.py"])
    assert intake.hashes.keys() - {"anna.zip"} == {"layers.py", "mine.py", "translations.txt"}
    assert intake.notes == ["skipped: student/data, student/unused.py"]


def test_names_are_read_as_people_see_them(pack, form):
    files = {"student\\layers.py": f"from .cafe\u0301 import x\n{LAYERS}", "student\\cafe\u0301.py": ""}
    intake = take(pack(files, form))
    assert intake.submitted == {"layers", "caf\u00e9"} and intake.notes == []


@pytest.mark.parametrize("pattern", ["-1.", " (1).", " (2)-1."])
def test_what_an_upload_renamed_gets_its_name_back(pack, form, pattern):
    files = {"layers.py": f"from . import mine\nfrom .tools.soft import z\n{LAYERS}"}
    files |= dict.fromkeys(("mine.py", "tools/soft.py", "translations.txt"), "y = 1\n")
    intake = take(pack({name.replace(".", pattern): text for name, text in files.items()}, form))
    assert intake.submitted == {"layers", "mine", "tools.soft"} and intake.translations == b"y = 1\n"
    assert intake.hashes.keys() - {"anna.zip"} == {*files}


def test_a_name_of_its_own_stays_and_of_several_copies_the_last_counts(pack):
    files = {"layers.py": "from . import mine\n" + LAYERS, "layers-1.py": "1/0", "mine.py": "plain = 1\n"}
    copies = {f"masks ({number}).py": f"number = {number}\n" for number in (2, 10, 9)}
    intake = take(pack({**files, **copies}))
    texts = [intake.sources[name][1] for name in ("layers", "mine", "masks")]
    assert texts == [files["layers.py"], "plain = 1\n", "number = 10\n"]
    assert intake.notes == [
        "ignored, since the assignment's modules do not import them: layers-1.py, masks (2).py, masks (9).py",
        "read without the numbers that an upload put behind their names: masks (10).py",
    ]


def test_modules_come_from_the_submission_else_from_the_release(pack):
    intake = take(pack({"layers.py": LAYERS, "__main__.py": "1/0", "README.md": ""}))
    assert intake.sources["layers"] == ("layers.py", LAYERS) and intake.notes == []
    assert intake.sources["attention"] == ("attention.py", (SKELETON / "attention.py").read_text())
    # What no module of the contract imports is not part of the package, be it the release's.
    assert "__main__" not in intake.sources
    alone = take(pack({"anna/translations.txt": "a\n"}, "zip"))
    assert alone.translations == b"a\n" and "layers" in alone.sources and "layers" not in alone.submitted


@pytest.mark.parametrize("case", EXAMPLES["found"])
def test_where_modules_and_translations_may_lie(pack, form, case):
    files = {f"{case['modules']}layers.py": LAYERS, f"{case['translations']}translations.txt": "a\n"}
    intake = take(pack(files, form))
    assert (intake.name, intake.submitted, intake.sources["layers"][1]) == ("anna", {"layers"}, LAYERS)
    assert intake.translations == (b"a\n" if case["is_near"] else None)


@pytest.mark.parametrize("case", EXAMPLES["refused"])
def test_why_a_submission_is_refused(pack, form, case):
    example = EXAMPLES["refused"][case]
    files = dict.fromkeys(example["files"], "") | ({example["link"]: LINK} if "link" in example else {})
    assert example["words"] in reason(pack(files, form))


def test_too_large_a_module_is_refused(pack, form):
    large = reason(pack({**WORK, "student/mine.py": "#" * MAX_MODULE_BYTES + "\n"}, form))
    limit = f"it has {MAX_MODULE_BYTES + 1:,} bytes, and at most 100,000 are read; hand in a shorter"
    assert f"'student/mine.py': {limit}" in large


def test_too_many_modules_are_refused(pack, form):
    helpers = {f"h{i}.py": "" for i in range(MAX_MODULES)}
    using = "".join(f"from . import {name[:-3]}\n" for name in helpers)
    assert f"more than {MAX_MODULES} modules" in reason(pack({**helpers, "layers.py": using}, form))


def test_backups_do_no_harm(pack):
    intake = take(pack({"layers.py": LAYERS, "old/layers.py": "1/0", "mine/layers.py": "1/0"}))
    assert intake.sources["layers"][1] == LAYERS
    assert intake.notes == ["graded: the files in the top folder; ignored: those in 'mine/', 'old/'"]


def test_a_folder_around_an_archive(pack, write_zip):
    content = write_zip([("student/layers.py", LAYERS)]).read_bytes()
    folder = pack({"work.zip": content, "comment.html": "", ".DS_Store": ""})
    intake = take(folder)
    assert intake.name == "anna" and intake.submitted == {"layers"} and "work.zip" in intake.hashes
    (folder / "masks.py").write_text("")
    assert take(folder).submitted == {"masks"}
    (folder / "masks.py").unlink()
    twice = write_zip([("work.zip", content)]).read_bytes()
    (folder / "work.zip").write_bytes(twice)
    assert take(folder).submitted == {"layers"}
    (folder / "work.zip").write_bytes(write_zip([("work.zip", twice)]).read_bytes())
    assert "hand in the files themselves" in reason(folder)


@pytest.mark.parametrize("name, message", [("nowhere", "no such file"), ("x" * 300, "too long")])
def test_what_is_not_there_is_the_callers_slip(pack, tmp_path, name, message):
    with pytest.raises(IntakeError, match="(?i)" + message) as caught:
        take_in(tmp_path / name, SKELETON, read_assignment())
    assert not isinstance(caught.value, IntakeRefusedError)
    with pytest.raises(IntakeError, match="embedding.py is missing"):
        take_in(pack({"layers.py": LAYERS}), tmp_path / name[:9], read_assignment())


@pytest.mark.parametrize("error", [RecursionError, MemoryError, OSError(36, "File name too long", "a\nb")])
def test_what_nobody_foresaw_is_one_line_that_names_the_submission(pack, monkeypatch, error):
    monkeypatch.setattr("autograder.intake.submission.take_tree", Mock(side_effect=error))
    with pytest.raises(IntakeError, match="^anna: it cannot be read: ") as caught:
        take(pack({"layers.py": LAYERS}))
    assert "\n" not in str(caught.value)


def test_files_that_are_not_read_are_told_apart_by_their_size(pack):
    """Or a record of other files would count for these."""
    hashes = [take(pack({"layers.py": LAYERS})).hashes]
    for name in (TRANSLATIONS, ANSWERS):
        for size in (1, 2):
            intake = take(pack({name: b"\0" * (LIMITS[name] + size)}))
            assert name in intake.translations_problem or name in intake.notes[0]
            hashes.append(intake.hashes)
    assert len({content_hash(each) for each in hashes}) == len(hashes)
    with pytest.raises(IntakeRefusedError) as caught:
        take(pack({"layers.py": b"#" * (MAX_MODULE_BYTES + 1)}))
    assert "layers.py" in caught.value.hashes


def test_links_and_pipes_are_not_opened(pack, tmp_path):
    os.mkfifo(tmp_path / "anna.zip")
    assert "it is no ordinary file" in reason(tmp_path / "anna.zip")
    (tmp_path / "anna").mkdir()
    (tmp_path / "anna" / "work.zip").symlink_to("/etc/passwd")
    assert "it is a symbolic link; hand in ordinary files" in reason(tmp_path / "anna")
    (tmp_path / "anna" / "work.zip").unlink()
    (tmp_path / "b.tar.gz").write_bytes(b"BZh9")
    assert "expected a folder, a .zip or a notebook (.ipynb); this is none of these" in reason(tmp_path / "b.tar.gz")
    folder = pack({"layers.py": f"from .tools.more import x\n{LAYERS}", "away/more.py": "secret = 1\n"})
    (tmp_path / "link").symlink_to(folder)
    assert "it is a symbolic link" in reason(tmp_path / "link")
    (folder / "tools").symlink_to(folder / "away")
    assert take(folder).submitted == {"layers"}
    os.mkfifo(folder / "attention.py")
    assert "'attention.py': it is no ordinary file" in reason(folder)


def test_too_many_entries(pack, monkeypatch, form):
    monkeypatch.setattr(tree, "MAX_ENTRIES", 10)
    assert "more than 10 " in reason(pack({f"{i}.txt": "" for i in range(11)}, form))


def test_helpers_that_are_imported_relatively(pack, form):
    files = {
        "layers.py": f"from .helper import a\nfrom . import other, kit, LayerNorm\nfrom .tools.more import x\n{LAYERS}",
        "helper.py": "def f():\n    from .torch import c\na = 1\n",
        "other.py": "y = 1\n",
        "torch.py": "",
        "tools/more.py": "from ..other import y\nfrom .layers import z\nx = y\n",
        "tools/layers.py": "z = 1\n",
        "kit/__init__.py": "from .inner import w\n",
        "kit/inner.py": "w = 1\n",
        "__init__.py": "1/0",
        **dict.fromkeys(("conftest.py", "unused.py", "tools/unused.py", "x.pth", "layers.so", "masks.pyc"), "1/0"),
    }
    intake = take(pack(files, form))
    own = {"helper", "other", "torch", "tools.more", "tools.layers", "kit", "kit.inner"}
    assert intake.submitted == {"layers", *own} and "1/0" not in intake.sources["__init__"][1]
    assert intake.notes == ["ignored, since the assignment's modules do not import them: conftest.py, unused.py"]
    assert intake.locate("tools.more", 2) == "tools/more.py, line 2"
    assert intake.locate("kit", 1) == "kit/__init__.py, line 1"


NO_TEXT = {b"x = '\xe9'\n": "0xe9", b"\xff\xfex\0": "0xff"}
"""Latin-1 and UTF-16, with the first byte that is not UTF-8."""


@pytest.mark.parametrize("content", [*NO_TEXT, b"", b"\xef\xbb\xbf" + LAYERS.encode()])
def test_an_unusual_file_costs_its_module_at_most_with_one_line(pack, content):
    intake = take(pack({"layers.py": content, "masks.py": "class Mask(:\r\n    a = '''x\ry'''"}))
    assert intake.sources["masks"][1] == "class Mask(:\n    a = '''x\ny'''", "a syntax error is left to the worker"
    assert "layers" in intake.submitted
    if byte := NO_TEXT.get(content):
        message = f"layers.py: it is not UTF-8 text (byte {byte} in line 1); save it as UTF-8"
        assert intake.notes == [message] and intake.sources["layers"][1] == f"raise ImportError({message!r})\n"
    else:
        assert intake.sources["layers"] == ("layers.py", LAYERS if content else "")
        assert intake.notes == [] if content else ["layers.py: it is empty; hand in the file that holds your code"]


FORM = (SKELETON / ANSWERS).read_text()


@pytest.mark.parametrize(
    "text, shown",
    [(f"{FORM}\nBLEU fell to 0.41.\x1b[2J\n", "BLEU fell to 0.41."), (None, ""), (FORM, ""), ("x" * 30_000, "")],
)
def test_what_is_written_reaches_the_reader(pack, text, shown):
    intake = take(pack({"masks.py": "x = 1\n", **({} if text is None else {ANSWERS: text})}))
    result = left_to_people(read_assignment().written[0], intake.answers)
    assert result.state is (State.NEEDS_READER if shown else State.NOT_ATTEMPTED)
    assert (shown or f"nothing is written in {ANSWERS}") in result.message and "\x1b" not in result.message
    assert bool(intake.notes) == (text is not None and text[0] == "x")
