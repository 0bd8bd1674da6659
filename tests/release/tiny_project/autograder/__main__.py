"""A stand-in for the autograder: gives the points of every task whose functions return."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

from foundation.texts import told_by

TASKS = {
    "1.1": (4, lambda package: package.table.Table(2, 3).forward([0, 1])),
    "1.2": (6, lambda package: package.mean.weighted_mean([1.0, 2.0], [0.5, 0.5])),
    "E.1": (0, lambda package: package.mean.diagonal(3)),
}


def main() -> None:
    """`grade PATH --results FILE`, or `grade-class FOLDER --output FOLDER`."""
    path, output = Path(sys.argv[2]), Path(sys.argv[4])
    if sys.argv[1] == "grade":
        rows = [
            {"number": part["number"], "score": part["score"], "status": part["state"], "output": part["message"]}
            for part in grade(path)
        ]
        output.write_text(json.dumps({"tests": rows}))
        return
    (output / "records").mkdir(parents=True)
    for entry in path.iterdir():
        (output / "records" / f"{entry.name}.json").write_text(json.dumps({"judgement": {"parts": grade(entry)}}))


def grade(folder: Path) -> list[dict]:
    """The parts of a record."""
    package = load(folder)
    parts = []
    for number, (points, call) in TASKS.items():
        try:
            call(package)
            parts.append({"number": number, "score": points, "state": "passed", "message": ""})
        except NotImplementedError as error:
            parts.append({"number": number, "score": 0, "state": "not attempted", "message": told_by(error)})
    return [*parts, {"number": "4.1", "score": 0, "state": "not attempted", "message": "no translations.txt"}]


def load(folder: Path) -> ModuleType:
    """The package in a folder."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "submission"]:
        del sys.modules[name]
    spec = importlib.util.spec_from_file_location(
        "submission", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    package = sys.modules["submission"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


if __name__ == "__main__":
    main()
