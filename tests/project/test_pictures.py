"""The committed pictures are what their code draws, and name what exists."""

import re
import runpy
import xml.etree.ElementTree as ElementTree

import pytest

from docs.pictures import matrices
from foundation.places import ROOT

FLOWS = runpy.run_path(str(ROOT / "docs/pictures/flows.py"))
ARCHITECTURE = runpy.run_path(str(ROOT / "docs/pictures/architecture.py"))
MADE = ("dist/",)


def text_of(name: str) -> str:
    return (ROOT / "docs/pictures" / name).read_text(encoding="utf-8")


def test_the_flows_name_what_exists_and_are_up_to_date():
    for box in FLOWS["BOXES"].values():
        if box.is_path and not box.name.startswith(MADE):
            assert (ROOT / box.name).exists(), box.name
    for scheme in FLOWS["COLOURS"]:
        assert FLOWS["draw"](scheme) == text_of(f"flows-{scheme}.svg"), "make pictures"


def test_the_architecture_is_up_to_date():
    assert ARCHITECTURE["draw"]() == text_of("architecture.svg"), "make pictures"


NAMED = [(part.file, part.name) for part in ARCHITECTURE["PARTS"]] + [row[:2] for row in ARCHITECTURE["AROUND"]]


@pytest.mark.parametrize("file, name", sorted(set(NAMED)))
def test_the_architecture_names_what_exists(file, name):
    code = (ROOT / "reference" / file).read_text(encoding="utf-8")
    assert all(re.search(rf"(def|class) {part}\b", code) for part in name.split("."))
    drawn = " ".join(ElementTree.fromstring(text_of("architecture.svg")).itertext())
    assert name in drawn and file in drawn


def test_every_component_of_the_model_is_drawn():
    components = {
        key
        for key in ARCHITECTURE["tasks"]()
        if not key.startswith(("train", "decode", "own_tests", "understanding", "hunts"))
    }
    drawn = {f"{file} {name.split('.')[0]}" for file, name in NAMED}
    assert components <= drawn


def words_in(svg: str) -> list[str]:
    return [node.text for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_the_matrices_are_what_the_reference_computes(tmp_path):
    matrices.save(tmp_path / "now.svg")
    now = words_in((tmp_path / "now.svg").read_text(encoding="utf-8"))
    assert now == words_in(text_of("matrices.svg")), "make pictures"
    assert {"0.79", "0.98", "1.95", "−0.5", "scores: (q, k) = (3, 3)"} <= set(now)  # the glossary quotes them
