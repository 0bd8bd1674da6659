"""A student's whole way in Jupyter, in real kernels: solve, train, translate, look at attention, hand in, be graded."""

import json
import re
import shutil
from pathlib import Path

import pytest

from autograder.intake import take_in
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

pytestmark = pytest.mark.slow

LAST = "3_training_and_translation.ipynb"


def run(folder: Path, name: str) -> dict[str, str]:
    """Runs a saved notebook in a fresh kernel; what stands below each of its cells, by id."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(folder / name, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    nbformat.write(notebook, folder / name)
    said = {}
    for cell in notebook.cells:
        outputs = [output.get("text") or " ".join(output.get("data", {})) for output in cell.get("outputs", ())]
        said[cell.id] = "\n".join(outputs)
    return said


# Jupyter's own: sockets that are left to the garbage collector, loops that are closed late.
@pytest.mark.filterwarnings("default::ResourceWarning", "default::DeprecationWarning")
def test_from_the_first_answer_to_translations(course, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    for path, content in course.source.items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    # The smallest model there is: this is about the way, not about BLEU.
    text = (tmp_path / LAST).read_text()
    assert 'replace(PRESETS[\\"fast\\"], norm_first=False, epochs=3)' in text
    (tmp_path / LAST).write_text(
        text.replace('replace(PRESETS[\\"fast\\"]', 'replace(PRESETS[\\"tiny\\"]').replace("epochs=3", "epochs=1")
    )
    said = run(tmp_path, LAST)
    assert re.search(r"(\d+) of \1 tests pass, 6 of 6 points", said["test_3_1"])
    assert "epoch 1  train_loss" in said["code-train"]
    n_lines = len((ROOT / "data/corpus/fren.test.src.bpe").read_text().splitlines())
    assert f"{n_lines} translations in translations.txt" in said["code-translate"]
    assert f"translations.txt has the expected {n_lines} lines" in said["test_4_1"]
    assert "image/png" in said["code-look-at-what-attends-to-what"]
    assert said["code-bleu"] == "text/plain"
    # What was run is what is handed in, as a folder or as an archive; pictures and progress bars do no harm.
    archive = shutil.make_archive(str(tmp_path.with_name("anna")), "zip", tmp_path.parent, tmp_path.name)
    for path in (tmp_path, Path(archive)):
        intake = take_in(path, ROOT / "student", read_assignment())
        assert intake.submitted == {one.module for one in course.definitions}
        assert intake.translations is not None and intake.translations.count(b"\n") == n_lines
    assert any(cell.get("outputs") for cell in json.loads((tmp_path / LAST).read_text())["cells"])
