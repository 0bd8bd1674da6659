"""Whole notebooks in a kernel: from the first answer to translations, and before all is written."""

import json
import re
import shutil
from pathlib import Path

import pytest

from autograder.intake.submission import take_in
from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from release.gates import write_all
from release.prose import find_definitions

LAST = "3_training_and_translation.ipynb"


def run(folder: Path, name: str, last: str = "") -> dict[str, str]:
    """Runs a saved notebook in a fresh kernel, or the cells up to one, past errors; what stands below each, by id."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(folder / name, as_version=4)
    ids = [cell.id for cell in notebook.cells]
    notebook.cells = notebook.cells[: ids.index(last) + 1] if last else notebook.cells
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=300, allow_errors=bool(last), resources=place).execute()
    nbformat.write(notebook, folder / name)
    printed = {}
    for cell in notebook.cells:
        printed[cell.id] = "\n".join(
            output.get("text") or "\n".join(output.get("traceback", ())) or " ".join(output.get("data", {}))
            for output in cell.get("outputs", ())
        )
    return printed


@pytest.mark.slow
@pytest.mark.filterwarnings("default::ResourceWarning", "default::DeprecationWarning")  # as below
def test_training_before_all_is_written_names_the_part_in_one_line(course, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write_all(course.release, tmp_path)
    assert re.fullmatch(r"not written yet: TODO [\d.]+", run(tmp_path, LAST, "code-train")["code-train"])


@pytest.mark.slow
# Jupyter's own: sockets that are left to the garbage collector, loops that are closed late.
@pytest.mark.filterwarnings("default::ResourceWarning", "default::DeprecationWarning")
@pytest.mark.nightly
def test_from_the_first_answer_to_translations(course, package, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    write_all(course.source, tmp_path)
    # The smallest model there is: this is about the way, not about BLEU.
    text = (tmp_path / LAST).read_text()
    assert 'replace(PRESETS[\\"fast\\"], norm_first=False, epochs=3)' in text
    (tmp_path / LAST).write_text(
        text.replace('replace(PRESETS[\\"fast\\"]', 'replace(PRESETS[\\"tiny\\"]').replace("epochs=3", "epochs=1")
    )
    printed = {}
    for path in sorted(tmp_path.glob("*.ipynb")):
        printed |= run(tmp_path, path.name)
    for task in read_assignment().tasks:
        if task.components and not task.understanding:
            points = f"{task.points:g} of {task.points:g} points" if task.points else "no points, an extension"
            shown = printed[task.marker.replace("task", "test")]
            assert re.search(rf"(\d+) of \1 tests pass, {points}", shown), task.number
    assert "epoch 1  train_loss" in printed["code-train"]
    n_lines = len((ROOT / "data/corpus/fren.test.src.bpe").read_text().splitlines())
    assert f"{n_lines} translations in translations.txt" in printed["code-translate"]
    assert f"translations.txt has the expected {n_lines} lines" in printed["test_4_1"]
    assert "image/png" in printed["code-look-at-what-attends-to-what"]
    assert printed["code-bleu"] == "text/plain"
    # What was run is what is handed in, as a folder or as an archive; pictures and progress bars do no harm.
    archive = shutil.make_archive(str(tmp_path.with_name("anna")), "zip", tmp_path.parent, tmp_path.name)
    for path in (tmp_path, Path(archive)):
        intake = take_in(path, ROOT / "student", read_assignment())
        assert intake.submitted == {definition.module for definition in find_definitions(package.skeleton)}
        assert intake.translations is not None and intake.translations.count(b"\n") == n_lines
    assert any(cell.get("outputs") for cell in json.loads((tmp_path / LAST).read_text())["cells"])
