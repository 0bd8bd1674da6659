"""Runs the component tests on versions of the package. A script: `python try_versions.py KIT PACKAGE`.

It runs in a process of its own, in an unpacked students' archive, and knows nothing of the release. Tests are
collected once, and run for each version in a fork. The request on stdin is
`{"version": {"layers.py": "text", …}, …}`; the last line of stdout is JSON:

    {"version": [{"markers": ["task_1_4", …], "is_core": true, "has_passed": false}, …]}
"""

import contextlib
import importlib
import io
import json
import os
import sys
from pathlib import Path

import pytest

PRELOADED = ("torch", "torch.optim.adam", "torch._dynamo")
"""What tests import late: loaded once instead of in every fork."""


class Versions:
    """A pytest plugin that has the collected tests run once for each version, and notes what became of them."""

    def __init__(self, folder: Path, versions: dict[str, dict[str, str]]) -> None:
        self.folder, self.versions = folder, versions
        self.outcomes: list[dict] = []
        self.answers: dict[str, list[dict]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for version, files in self.versions.items():
            for name, text in files.items():
                (self.folder / name).write_text(text, encoding="utf-8")
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reading)
                try:
                    run_items(session)
                    with os.fdopen(writing, "w") as answer:
                        json.dump(self.outcomes, answer)
                finally:
                    os._exit(0)
            os.close(writing)
            with os.fdopen(reading) as answer:
                text = answer.read()
            os.waitpid(child, 0)
            self.answers[version] = json.loads(text) if text else []
        return True

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> None:
        if call.when == "call" or (call.when == "setup" and call.excinfo is not None):
            markers = [marker.name for marker in item.iter_markers()]
            passed = call.excinfo is None
            self.outcomes.append({"markers": markers, "is_core": "core" in markers, "has_passed": passed})


def run_items(session: pytest.Session) -> None:
    """All tests in order, as pytest's own loop does."""
    for item, following in zip(session.items, [*session.items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def main() -> int:
    """Reads the request, tries every version, answers."""
    kit, package = Path(sys.argv[1]), sys.argv[2]
    os.chdir(kit)
    sys.path.insert(0, str(kit))
    for name in PRELOADED if "torch" in (kit / "requirements.txt").read_text(encoding="utf-8") else ():
        importlib.import_module(name)
    versions, said = Versions(kit / package, json.load(sys.stdin)), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        pytest.main(["-q", "-p", "no:cacheprovider", "--tb=no"], plugins=[versions])
    if not versions.answers:
        print(said.getvalue(), file=sys.stderr)
        return 1
    print(json.dumps(versions.answers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
