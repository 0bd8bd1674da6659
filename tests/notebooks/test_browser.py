"""JupyterLab and formgrader in a real browser; screenshots stay in pytest's folder."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from autograder.grading.events import TasksJudged
from autograder.grading.marks import TaskResult
from autograder.grading.recording import Recorder
from autograder.grading.states import State
from autograder.reports.gradebook import Gradebook
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

NAME = read_assignment().name

pytestmark = pytest.mark.slow

PROGRAMS = Path(sys.executable).parent
START_SECONDS, KERNEL_MILLISECONDS = 90, 120_000

# All cells are to be in the page, also those out of sight.
SETTINGS = {
    "notebook-extension/tracker": '{"windowingMode": "none"}',
    "apputils-extension/notification": '{"fetchNews": "false"}',
}


@pytest.fixture(scope="module")
def folder(course, assignment, tmp_path_factory) -> Path:
    """A course with one graded student."""
    root = tmp_path_factory.mktemp("jupyter")
    config = f"load_subconfig('nbgrader_config.py', path={str(ROOT / 'notebooks')!r})\n"
    (root / "nbgrader_config.py").write_text(f"{config}c.CourseDirectory.root = {str(root)!r}\n")
    for version, files in (("source", course.source), ("release", course.release)):
        for path, content in files.items():
            target = root / version / NAME / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    book = Gradebook.open(str(root), "anna", assignment)
    book.reset()
    results = tuple(TaskResult(task, State.PASSED, task.points, "") for task in assignment.tasks)
    record = Recorder("anna", assignment, "0" * 16).add(TasksJudged(results))
    book.write(record)
    book.write_feedback(record, None)
    return root


@pytest.fixture(scope="module")
def address(folder):
    """A server in the course's folder, with nobody's settings."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = folder / ".home" / "settings"
    for name, text in SETTINGS.items():
        path = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    environment = {
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "HOME": str(folder / ".home"),
        "JUPYTERLAB_SETTINGS_DIR": str(settings),
        "OMP_NUM_THREADS": "1",
    }
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token="]
    with (folder / ".home" / "log").open("w") as log:
        server = subprocess.Popen(
            [PROGRAMS / "jupyter-lab", *options], cwd=folder, env=environment, stdout=log, stderr=log
        )
    made = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{made}/api/status", server, folder / ".home" / "log")
        yield made
    finally:
        server.terminate()
        server.wait(30)


def wait_for(url: str, server: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            assert server.poll() is None and time.monotonic() < end, log.read_text()[-2000:]
            time.sleep(0.3)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu"]
        made = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        yield made
        made.close()


@pytest.fixture
def page(browser):
    made = browser.new_page(viewport={"width": 1280, "height": 1000})
    made.set_default_timeout(KERNEL_MILLISECONDS)
    yield made
    made.close()


def test_a_student_solves_a_task(page, address, course, tmp_path) -> None:
    page.goto(f"{address}/lab/tree/release/{NAME}/1_building_blocks.ipynb")
    test = page.locator(".jp-CodeCell", has_text='check("1.5")').last
    test.wait_for()
    # What is run before the kernel is there would be lost.
    page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()
    page.locator(".lm-MenuBar-itemLabel", has_text="Run").click()
    page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click()
    test.get_by_text(re.compile(r"0 of \d+ tests pass, 0 of 6 points")).wait_for()
    test.scroll_into_view_if_needed()
    page.screenshot(path=tmp_path / "open.png")
    assert "TODO 1.5: create the two affine maps." in test.inner_text()

    answer = page.locator(".jp-CodeCell", has_text="class FeedForward").last
    answer.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(next(one.solved for one in course.definitions if one.name == "FeedForward"))
    page.keyboard.press("Shift+Enter")
    test.locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    test.get_by_text(re.compile(r"(\d+) of \1 tests pass, 6 of 6 points")).wait_for()
    test.scroll_into_view_if_needed()
    page.screenshot(path=tmp_path / "solved.png")
    assert "TODO" not in test.inner_text()


def test_the_given_cells_cannot_be_changed(page, address) -> None:
    page.goto(f"{address}/lab/tree/release/{NAME}/1_building_blocks.ipynb")
    test = page.locator(".jp-CodeCell", has_text='check("1.1")').last
    test.locator(".cm-content").click()
    page.keyboard.insert_text("nothing")
    assert "nothing" not in test.inner_text()


def test_formgrader_shows_the_course(page, address, tmp_path) -> None:
    page.goto(f"{address}/formgrader/manage_submissions/{NAME}")
    row = page.locator("tr", has_text="anna")
    row.wait_for()
    page.screenshot(path=tmp_path / "formgrader.png")
    assert "100" in row.inner_text()
    page.goto(f"{address}/formgrader/gradebook/{NAME}/1_building_blocks")
    page.locator("td", has_text="48").first.wait_for()
    page.screenshot(path=tmp_path / "gradebook.png")
