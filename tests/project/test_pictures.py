"""The pictures name what exists, with the right tasks; the matrices are what the reference computes."""

import re
import xml.etree.ElementTree as ElementTree

from docs.pictures import matrices
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

NAME = re.compile(r'font-family="ui-monospace[^>]*>([^<]+)</(?:text|tspan)>')
PART = re.compile(r">([\w.]+)</t(?:ext|span)>(?:<[^>]*>)*<tspan[^>]*> ?(\w+\.py)(?:</tspan>)?(?:<tspan[^>]*>)?([^<]*)<")
"""A name, its file, and what is said of both, such as ` · task 1.2`."""


def text_of(name: str) -> str:
    return (ROOT / "docs/pictures" / name).read_text(encoding="utf-8")


def test_the_flows_name_what_exists():
    names = [name for name in NAME.findall(text_of("flows.svg")) if not name.startswith("dist/")]
    assert len(names) == 14 and all((ROOT / name).exists() for name in names)


def test_the_architecture_has_every_component_with_its_file_and_its_task():
    tasks: dict[str, str] = {}
    for task in read_assignment().tasks:
        for component in task.components:
            tasks.setdefault(component, task.number)
    drawn = set()
    for name, file, said in PART.findall(text_of("architecture.svg")):
        code = (ROOT / "reference" / file).read_text(encoding="utf-8")
        assert all(re.search(rf"(def|class) {part}\b", code) for part in name.split(".")), name
        component = f"{file.removesuffix('.py')}.{name.split('.')[0]}"
        number = re.search(r"task (\S+)", said)
        assert number is None or number[1] == tasks[component]
        drawn.add(component)
    others = ("train", "decode", "own_tests", "understanding", "hunts")
    assert {component for component in tasks if not component.startswith(others)} <= drawn


def words_in(svg: str) -> list[str]:
    return [node.text for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_the_matrices_are_what_the_reference_computes(tmp_path):
    matrices.save(tmp_path / "now.svg")
    now = words_in((tmp_path / "now.svg").read_text(encoding="utf-8"))
    assert now == words_in(text_of("matrices.svg")), "make pictures"
    assert {"0.79", "0.98", "1.95", "−0.5", "scores: (q, k) = (3, 3)"} <= set(now)  # the glossary quotes them
