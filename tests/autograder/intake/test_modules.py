"""Which Python files count, and what is said of the others."""

import importlib
import shutil

import pytest

from autograder.intake import take_in
from autograder.intake.tree import MAX_MODULES, MAX_SOURCE_BYTES
from autograder.sandbox.worker.loading import Package
from foundation.assignment_file import read_assignment
from foundation.places import SKELETON

from .conftest import LAYERS


def test_helpers_that_are_imported_relatively(write_folder, take):
    intake = take(
        write_folder(
            {
                "layers.py": "from .helper import a\nfrom . import other, LayerNorm\n" + LAYERS,
                "helper.py": "def f():\n    from .third import c\n",
                "other.py": "",
                "third.py": "",
                "unused.py": "1/0",
            }
        )
    )
    assert intake.submitted == {"layers", "helper", "other", "third"}
    assert intake.notes == ["ignored, since the assignment's modules do not import them: unused.py"]


def test_an_own_version_of_a_module_of_the_release(write_folder, take):
    intake = take(write_folder({"layers.py": LAYERS, "config.py": "x = 1\n"}))
    assert intake.sources["config"][1] == "x = 1\n"


def test_files_without_effect(write_folder, take):
    names = ["conftest.py", "sitecustomize.py", "torch.py", "x.pth", "layers.so", "attention.pyc"]
    intake = take(write_folder({"layers.py": LAYERS, "__init__.py": "1/0", **dict.fromkeys(names, "1/0")}))
    assert set(intake.sources).isdisjoint({"conftest", "sitecustomize", "torch"})
    assert "1/0" not in intake.sources["__init__"][1]
    assert intake.notes == [
        "ignored, since the assignment's modules do not import them: conftest.py, sitecustomize.py, torch.py"
    ]


def test_a_helper_may_bear_any_name(write_folder, take):
    intake = take(write_folder({"layers.py": "from .torch import x\n" + LAYERS, "torch.py": "x = 1\n"}))
    assert intake.submitted == {"layers", "torch"} and intake.notes == []


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_the_newlines_of_other_systems(write_folder, take, newline):
    text = "class LayerNorm:\n\n    a = '''x\ny'''\n"
    assert take(write_folder({"layers.py": text.replace("\n", newline)})).sources["layers"][1] == text


def test_helpers_in_folders_of_their_own(write_folder, write_zip, take):
    files = {
        "layers.py": f"from .tools.more import x\nfrom . import kit\n{LAYERS}",
        "tools/more.py": "from ..other import y\nfrom .layers import z\nx = y\n",
        "tools/layers.py": "z = 1\n",
        "tools/unused.py": "1 / 0\n",
        "kit/__init__.py": "from .inner import w\n",
        "kit/inner.py": "w = 1\n",
        "other.py": "y = 1\n",
    }
    for packed in (write_folder(files), write_zip(list(files.items()))):
        intake = take(packed)
        assert intake.notes == []
        assert intake.submitted == {"layers", "tools.more", "tools.layers", "kit", "kit.inner", "other"}
        assert intake.locate("tools.more", 2) == "tools/more.py, line 2"
        assert intake.locate("kit", 1) == "kit/__init__.py, line 1"
        package = Package(dict(intake.sources), {}, None, "with_folders")
        layers = importlib.import_module("with_folders.layers")
        assert layers.x == layers.kit.w == importlib.import_module("with_folders.tools.layers").z == 1
        package.close()


def test_a_link_beside_the_modules_is_no_folder(write_folder, take, tmp_path):
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "more.py").write_text("secret = 1\n")
    folder = write_folder({"layers.py": f"from .tools.more import x\n{LAYERS}"})
    (folder / "tools").symlink_to(tmp_path / "away")
    assert take(folder).submitted == {"layers"}


def test_the_release_has_folders_too(write_folder, tmp_path):
    release = shutil.copytree(SKELETON, tmp_path / "student")
    (release / "extra").mkdir()
    (release / "extra" / "more.py").write_text("x = 1\n")
    intake = take_in(write_folder({"layers.py": f"from .extra.more import x\n{LAYERS}"}), release, read_assignment())
    assert intake.submitted == {"layers"} and intake.sources["extra.more"] == ("extra/more.py", "x = 1\n")
    assert not any(name.startswith(("running", "translation")) for name in intake.sources), (
        "what no component needs stays out"
    )


@pytest.mark.parametrize(
    "content, message",
    [
        (b"x = '\xe9'\n", "layers.py: it is not UTF-8 text (byte 0xe9 in line 1); save it as UTF-8"),
        (b"\xff\xfex\0", "layers.py: it is not UTF-8 text (byte 0xff in line 1); save it as UTF-8"),
    ],
)
def test_what_is_no_text_costs_its_module_alone(write_folder, take, content, message):
    intake = take(write_folder({"layers.py": content, "masks.py": "x = 1\n"}))
    assert intake.notes == [message] and "layers" in intake.submitted
    with pytest.raises(ImportError) as raised:
        exec(intake.sources["layers"][1])
    assert str(raised.value) == message


def test_too_many_modules(write_folder, reason):
    helpers = {f"h{i}.py": "" for i in range(MAX_MODULES)}
    imports = "".join(f"from . import h{i}\n" for i in range(MAX_MODULES))
    assert f"more than {MAX_MODULES} modules" in reason(write_folder({"layers.py": imports, **helpers}))


def test_too_much_source(write_folder, reason):
    files = {f"{name}.py": "#" * 90_000 for name in ("layers", "attention", "masks", "model")}
    assert f"or {MAX_SOURCE_BYTES:,} bytes of Python" in reason(write_folder(files))


def test_a_syntax_error_is_left_to_the_worker(write_folder, take):
    intake = take(write_folder({"layers.py": "class LayerNorm(:\n"}))
    assert intake.sources["layers"][1] == "class LayerNorm(:\n" and intake.notes == []
