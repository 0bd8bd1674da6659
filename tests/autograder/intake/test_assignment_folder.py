"""Where the assignment's files may lie."""

import pytest

from autograder.intake.assignment_folder import find_translations
from autograder.intake.errors import RefusedError

from .conftest import LAYERS


@pytest.mark.parametrize(
    "name", ["layers.py", "student/layers.py", "anna/layers.py", "anna/student/layers.py", "student/student/layers.py"]
)
def test_the_place_is_found(write_folder, write_zip, write_tar, take, name):
    for path in (write_folder({name: LAYERS}), write_zip([(name, LAYERS)]), write_tar([(name, LAYERS)])):
        intake = take(path)
        assert (intake.name, intake.submitted, intake.sources["layers"][1]) == ("anna", {"layers"}, LAYERS)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a/b/layers.py", "too deep in it, in 'a/b/' (layers.py)"),
        ("a/student/b/layers.py", "too deep in it, in 'a/student/b/' (layers.py)"),
        (".hidden/layers.py", "none of the assignment's files"),
        ("__MACOSX/layers.py", "none of the assignment's files"),
    ],
)
def test_deeper_places_are_not(write_folder, write_zip, reason, name, words):
    assert words in reason(write_folder({name: LAYERS}))
    assert words in reason(write_zip([(name, LAYERS)]))


def test_translations_in_many_folders_are_looked_for_a_few_times_at_most():
    class Counted(list):
        n_readings = 0

        def __iter__(self):
            self.n_readings += 1
            return super().__iter__()

    paths = Counted(f"{number}/translations.txt" for number in range(9))
    with pytest.raises(RefusedError, match=r"there are two translations\.txt"):
        find_translations(paths, None, "student")
    assert paths.n_readings <= 2


def test_two_places_are_ambiguous(write_folder, write_zip, reason):
    both = {"layers.py": LAYERS, "student/layers.py": LAYERS, "student/attention.py": ""}
    message = reason(write_folder(both))
    assert "in 2 places, in the top folder (layers.py) and in 'student/' (attention.py, layers.py); hand" in message
    two = [("anna/layers.py", LAYERS), ("bert/layers.py", LAYERS)]
    assert "'anna/' (layers.py) and in 'bert/' (layers.py)" in reason(write_zip(two))


def test_backups_below_do_no_harm(write_folder, take):
    intake = take(write_folder({"layers.py": LAYERS, "old/layers.py": "1/0", "mine/layers.py": "1/0"}))
    assert intake.sources["layers"][1] == LAYERS
    assert intake.notes == ["graded: the files in the top folder; ignored: those in 'mine/', 'old/'"]


def test_the_whole_kit_handed_in(write_zip, take):
    kit = {"student/layers.py": LAYERS, "autograder/tests/conftest.py": "", "Makefile": "", "translations.txt": "x\n"}
    intake = take(write_zip([(f"assignment/{name}", text) for name, text in kit.items()]))
    assert intake.submitted == {"layers"} and intake.translations == b"x\n" and intake.notes == []


@pytest.mark.parametrize(
    "files, found",
    [
        (["layers.py", "translations.txt"], True),
        (["student/layers.py", "student/translations.txt"], True),
        (["student/layers.py", "translations.txt"], True),
        (["layers.py", "student/translations.txt"], True),
        (["anna/student/layers.py", "anna/translations.txt"], True),
        (["anna/translations.txt"], True),
        (["layers.py", "runs/course/translations.txt"], False),
    ],
)
def test_where_translations_may_lie(write_folder, take, files, found):
    intake = take(write_folder(dict.fromkeys(files, "")))
    assert (intake.translations is not None) == found


@pytest.mark.parametrize(
    "files",
    [
        ["student/layers.py", "student/translations.txt", "translations.txt"],
        ["a/translations.txt", "b/translations.txt"],
    ],
)
def test_two_translations(write_folder, reason, files):
    assert "there are two translations.txt" in reason(write_folder(dict.fromkeys(files, "x")))
