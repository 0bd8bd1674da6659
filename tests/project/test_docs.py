"""What the documentation names is there: paths, links, commands, pages, the tests of features, parts in pictures.

Every figure stands once, in docs/figures.toml: no page shows another number.
"""

import re
import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path

import pytest

from autograder.course.catalogue import faults_of
from docs import figures
from docs.pictures import matrices
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

TOP = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "data/README.md")
PAGES = [*(ROOT / name for name in TOP), *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [path.relative_to(ROOT).as_posix() for path in PAGES]

ROOMS = {path.name for path in ROOT.iterdir() if path.is_dir()} | {".ci", ".github"}
MADE = ("dist/", "build/", "runs/", "marks/", ".venv/", "data/corpus", "data/private", "notebooks/source")
MADE += ("notebooks/submitted", "student/translations.txt")
"""What commands write, and git ignores."""
EXAMPLES = {"assignment/tests/test_e_10_recent_mask.py", "assignment/misconceptions/recent_mask.toml"}
"""What the guides tell readers to write."""


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def sources_of(package: str) -> str:
    """Of a package, and of what is given beside a student's."""
    folders = [ROOT / package, *([ROOT / "given"] if package in ("reference", "student") else [])]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".toml")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


@cache
def code_in(text: str) -> list[str]:
    """Everything in backticks, and every line of an indented or fenced block, without comments."""
    fenced = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text)]
    indented = re.findall(r"^ {4,}(.+)$", text, re.MULTILINE)
    return [re.sub(r"\s#\s.*", "", code) for code in (*spans, *indented, *"".join(fenced).splitlines())]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "CHANGELOG.md"])  # whose paths were those of a time
def test_every_path_exists(name):
    for code in code_in(text_of(name)):
        for word in re.findall(r"(?<![\w./-])[\w.*-]+/[\w./*…-]*", code):
            path = word.rstrip(".").rstrip("…")
            if path.split("/")[0] not in ROOMS or path.startswith(MADE) or path in EXAMPLES:
                continue
            assert list(ROOT.glob(path)), f"{name} names {path}"


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_somewhere(name):
    here = (ROOT / name).parent
    links = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", text_of(name))
    for link in (first or second for first, second in links if "://" not in first + second):
        path, _, anchor = link.partition("#")
        target = (here / path) if path else ROOT / name
        assert target.exists(), f"{name} links to {link}"
        if target.suffix == ".md" and anchor:
            assert anchor in anchors_of(target.read_text(encoding="utf-8")), f"{name} links to {link}"


def anchors_of(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", heading.lower()).strip() for heading in headings]
    return {re.sub(r"[\s-]+", "-", heading) for heading in plain}


@pytest.mark.parametrize("name", [name for name in NAMES if "/proof/" not in name])
def test_every_make_target_and_variable_exists(name):
    makefile = text_of("Makefile")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    variables = set(re.findall(r"^([A-Z_]+) \?=", makefile, re.MULTILINE))
    for code in code_in(text_of(name)):
        for command in re.findall(r"(?:^|time |; |&& )make((?: [A-Za-z_=./-]+)*)", code):
            for word in command.split():
                if "=" in word:
                    assert word.partition("=")[0] in variables, f"{name}: make {word}"
                else:
                    assert word in targets or name == "CHANGELOG.md", f"{name}: make {word}"


@pytest.mark.parametrize("name", [name for name in NAMES if "/proof/" not in name])
def test_every_command_and_flag_exists(name):
    """A flag is looked for in the sources of its package: a check that costs no start of any command."""
    for code in code_in(text_of(name)):
        for module, rest in re.findall(r"python(?:3[.\d]*)? -m ([\w.]+)([^|;&#]*)", code):
            package, _, inner = module.partition(".")
            if not (ROOT / package).is_dir():
                continue
            if inner:
                path = ROOT / module.replace(".", "/")
                assert '__name__ == "__main__"' in text_of(f"{path}.py") or (path / "__main__.py").is_file(), code
            sources = sources_of(package)
            words = rest.split()
            if words and re.fullmatch(r"[a-z]+(-[a-z]+)*", words[0]):
                assert f'"{words[0]}"' in sources, f"{name}: python -m {package} {words[0]}"
            for flag in re.findall(r"(?<=\s)--([a-z][a-z-]*)", rest):
                field = flag.removeprefix("no-").replace("-", "_")  # settings of the reference become flags
                known = re.search(rf'"--{flag}"|^--{flag} = |\b{field}: ', sources, re.MULTILINE)
                assert known, f"{name}: python -m {package} … --{flag}"
        for rest in re.findall(r"\bgrade\.py([^|;&#]*)", code):
            for flag in re.findall(r"(?<=\s)\[?--([a-z][a-z-]*)", rest):
                assert f'"--{flag}"' in text_of("grade.py"), f"{name}: grade.py --{flag}"


def test_every_page_is_in_the_sites_navigation():
    navigation = text_of("mkdocs.yml").partition("\nnav:\n")[2]
    listed = re.findall(r"[\w/-]+\.md", navigation)
    there = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted(there)


ROWS = re.findall(r"^\| (\d+) \| (.*) \|$", text_of("docs/reference/features.md"), re.MULTILINE)


def test_the_rows_are_numbered_in_order():
    numbers = [int(number) for number, _ in ROWS]
    assert numbers == sorted(set(numbers))
    assert set(numbers) <= set(range(1, 64)), "what the four sources describe"


@pytest.mark.parametrize("number, text", ROWS, ids=[number for number, _ in ROWS])
def test_a_row_is_complete_and_its_test_exists(number, text):
    cells = [cell.strip() for cell in text.split(" | ")]
    assert len(cells) == 4 and all(cells), "feature, command, what was seen, test"
    tests = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", cells[-1])
    assert tests
    for path, name in tests:
        assert f"\ndef {name}(" in text_of(path)


PART = re.compile(r">([\w.]+)</t(?:ext|span)>(?:<[^>]*>)*<tspan[^>]*> ?(\w+\.py)(?:</tspan>)?(?:<tspan[^>]*>)?([^<]*)<")
"""A name, its file, and what is said of both, such as ` · task 1.2`."""


def test_the_architecture_has_every_component_with_its_file_and_its_task():
    tasks: dict[str, str] = {}
    for task in read_assignment().tasks:
        for component in task.components:
            tasks.setdefault(component, task.number)
    drawn = set()
    for name, file, said in PART.findall(text_of("docs/pictures/architecture.svg")):
        code = text_of(f"reference/{file}")
        assert all(re.search(rf"(def|class) {part}\b", code) for part in name.split(".")), name
        component = f"{file.removesuffix('.py')}.{name.split('.')[0]}"
        number = re.search(r"task (\S+)", said)
        assert number is None or number[1] == tasks[component]
        drawn.add(component)
    others = ("train", "decode", "own_tests", "understanding", "hunts")
    assert {component for component in tasks if not component.startswith(others)} <= drawn


def words_in(svg: Path) -> list[str]:
    return [node.text for node in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_the_matrices_are_what_the_reference_computes(tmp_path):
    matrices.save(tmp_path / "now.svg")
    now = words_in(tmp_path / "now.svg")
    assert now == words_in(matrices.FILE), "make pictures"
    assert {"0.79", "0.98", "1.95", "−0.5", "scores: (q, k) = (3, 3)"} <= set(now)  # the glossary quotes them


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_the_figures_of_the_data(name):
    text = text_of(name)
    assert figures.corrected(name, text) == text, "python -m docs.figures"
    assert [quote for quote in figures.QUOTES.get(name, []) if not re.search(figures.pattern_of(quote), text)] == []


def test_numbers_of_faults_are_those_of_the_catalogue():
    assignment = read_assignment()
    faults, conditional = faults_of(assignment), faults_of(assignment, kind="conditional")
    numbers = (len(faults), len(conditional), sum(len(fault.edits) for fault in faults))
    assert numbers == tuple(int(figures.NUMBERS[name]) for name in ("faults", "all_conditional", "edits"))
