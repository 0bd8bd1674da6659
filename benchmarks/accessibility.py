"""Checks with axe-core that everybody can read the pages that the kit hands out.

    python -m benchmarks accessibility "the site=build/site" "the sample class=build/demo/marks"

Each page is opened in Chromium at the widths of a telephone and a screen, light and dark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from shutil import which
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright
from tqdm import tqdm

from foundation.command_line import UserError
from foundation.places import ROOT
from foundation.whole_files import write_whole
from validity.console import table

WIDTHS = (390, 1200)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
VIEWS = len(WIDTHS) * len(SCHEMES)
REPORT = ROOT / "docs" / "reference" / "accessibility.md"
TABLE = re.compile(r"(?<=<!-- checked -->\n)(?s:.*?)(?=<!-- end -->)")
HEAD = ("pages", "files", "views", "violations")


def violations_of(page: Page) -> list[tuple[str, str]]:
    """Rules that the present page breaks, with an element each; "too wide" where it does not fit the window."""
    broken = [(rule["id"], rule["nodes"][0]["html"]) for rule in Axe().run(page).response["violations"]]
    width = page.evaluate("document.documentElement.scrollWidth")
    is_wide = width > page.evaluate("window.innerWidth")
    return [*broken, *[("too wide", f"{width} pixels")] * is_wide]


def audit(pages: Sequence[Path]) -> Iterator[str]:
    """Open each page at each width, in each colour scheme; a line for each rule of axe-core that it breaks."""
    views = list(product(WIDTHS, SCHEMES, pages))
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"]) as browser,
    ):
        for width, scheme, path in tqdm(views, unit="view", disable=None):
            page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
            page.goto(path.resolve().as_uri())
            for rule, example in violations_of(page):
                yield f"{path}: {rule}, {width} pixels, {scheme}: {example[:120]}"
            page.close()


def measure(pages: Sequence[str], every: int, start: int) -> int:
    """List pages that not everybody can read.

    Violations of the rules of axe-core are printed, and with all pages written to docs/reference/accessibility.md.
    Status 1 for any violation.
    """
    rows = list[tuple[str, int, int, int]]()
    for item in pages:
        kind, _, name = item.rpartition("=")
        path = Path(name)
        # The page for what is missing finds its files from a server's root alone.
        found = [path] if path.is_file() else sorted({*path.rglob("*.html")} - {*path.rglob("404.html")})
        if not found:
            raise UserError(f"{path}: no page; expected a file .html, or a folder that holds some")
        chosen = found[start % every :: every]
        violations = list(audit(chosen))
        for violation in violations:
            print(violation)
        rows.append((kind or name, len(chosen), VIEWS * len(chosen), len(violations)))
    if every == 1:
        checked = f"\nChecked on {datetime.now(UTC):%Y-%m-%d}.\n\n{table(HEAD, rows)}\n\n"
        write_whole(REPORT, TABLE.sub(lambda _: checked, REPORT.read_text(encoding="utf-8")))
    return int(any(n_violations for *_, n_violations in rows))
