"""A stand-in for the autograder: gives the points of every task whose functions return."""

import importlib.util
import json
import sys
from pathlib import Path

TASKS = {
    "1.1": (4, lambda package: package.table.Table(2, 3).forward([0, 1])),
    "1.2": (6, lambda package: package.mean.weighted_mean([1.0, 2.0], [0.5, 0.5])),
    "E.1": (0, lambda package: package.mean.diagonal(3)),
}


def main() -> None:
    """`grade PATH --results FILE`."""
    folder, results = Path(sys.argv[2]), Path(sys.argv[4])
    spec = importlib.util.spec_from_file_location(
        "submission", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    package = sys.modules["submission"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    tests = []
    for number, (points, call) in TASKS.items():
        try:
            call(package)
            row = {"score": points, "status": "passed", "output": ""}
        except NotImplementedError as error:
            row = {"score": 0, "status": "failed", "output": f"not attempted\n{error}"}
        tests.append({"number": number, "name": f"task {number}", "max_score": points, **row})
    tests.append({"number": "4.1", "name": "BLEU", "score": 0, "max_score": 5, "status": "failed", "output": ""})
    results.write_text(json.dumps({"tests": tests}))


if __name__ == "__main__":
    main()
