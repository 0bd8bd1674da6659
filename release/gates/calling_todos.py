"""A script of the gate `todos`: `python calling_todos.py PACKAGE_FOLDER`, with a request on stdin.

    {"functions": [{"path": "layers.py", "function": "LayerNorm.forward"}], "samples": "…/sample_arguments.py"}

It imports a skeleton and calls its functions. Arguments are chosen by name from the assignment's samples; a function
with a parameter of another name is not called. The last line of stdout is JSON:

    {"import_faults": [...],
     "functions": {"layers.py:LayerNorm.forward": {"is_callable": true, "raised": [...], "trouble": "..."}}}
"""

import contextlib
import importlib
import importlib.util
import inspect
import io
import json
import runpy
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

OTHER_NAME = "a_submission"

Samples = dict[str, Any]
"""An argument for each name of a parameter."""


class NoSampleError(Exception):
    """A function needs an argument for which the assignment has no sample."""


def main() -> None:
    """Reads the request, imports, calls, answers."""
    folder = Path(sys.argv[1])
    request = json.load(sys.stdin)
    real_stdout = sys.stdout
    faults: list[str] = []
    functions: dict[str, dict[str, object]] = {}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        for name in (OTHER_NAME, folder.name):
            faults += import_faults(folder, name)
        if not faults:
            samples = read_samples(request["samples"])
            for item in request["functions"]:
                key = f"{item['path']}:{item['function']}"
                functions[key] = call_function(folder.name, item["path"], item["function"], samples)
    print(json.dumps({"import_faults": faults, "functions": functions}), file=real_stdout)


def import_faults(folder: Path, name: str) -> list[str]:
    """Imports every module of the package under a name."""
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    faults = []
    if spec is None or spec.loader is None:
        return [f"import {name}: {folder} is not a package"]
    try:
        package = importlib.util.module_from_spec(spec)
        sys.modules[name] = package
        spec.loader.exec_module(package)
    except Exception as error:
        return [f"import {name}: {type(error).__name__}: {error}"]
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if parts[-1] in ("__init__", "__main__"):
            continue
        module = ".".join([name, *parts])
        try:
            importlib.import_module(module)
        except Exception as error:
            faults.append(f"import {module}: {type(error).__name__}: {error}")
    return faults


def call_function(package: str, path: str, qualified: str, sets: list[Samples]) -> dict[str, object]:
    """Calls one function with each set of samples; collects what it raises."""
    if "<locals>" in qualified:
        return {"is_callable": False, "raised": [], "trouble": "stands in another function"}
    module = importlib.import_module(f"{package}.{path.removesuffix('.py').replace('/', '.')}")
    raised: list[str] = []
    trouble = ""
    for samples in sets:
        try:
            if "." in qualified:
                class_name, method = qualified.split(".")
                call_method(module, class_name, method, samples)
            else:
                call(getattr(module, qualified), samples)
            trouble = "returned without raising"
        except NotImplementedError as error:
            if str(error) not in raised:
                raised.append(str(error))
        except NoSampleError as error:
            return {"is_callable": False, "raised": [], "trouble": str(error)}
        except Exception as error:
            trouble = f"raised {type(error).__name__}: {str(error)[:120]}"
    return {"is_callable": True, "raised": raised, "trouble": trouble}


def call_method(module: types.ModuleType, class_name: str, method: str, samples: Samples) -> None:
    """Calls a method; where the constructor is a TODO, on an object that was made without it."""
    kind = getattr(module, class_name)
    if method == "__init__":
        call(kind, samples)
        return
    try:
        instance = call(kind, samples)
    except NotImplementedError:
        instance = kind.__new__(kind)
        for base in kind.__mro__:
            if base.__module__.startswith("torch"):
                base.__init__(instance)
                break
        for name in inspect.signature(kind.__init__).parameters:
            if name in samples:
                setattr(instance, name, samples[name])
    call(getattr(instance, method), samples)


def call(function: Callable[..., object], samples: Samples) -> object:
    """Calls with sample arguments, chosen by name."""
    arguments = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name in samples:
            arguments[name] = samples[name]
        elif parameter.default is parameter.empty:
            raise NoSampleError(f"needs an argument {name!r}, for which there is no sample")
    positional = [
        arguments.pop(name)
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.POSITIONAL_ONLY and name in arguments
    ]
    return function(*positional, **arguments)


def read_samples(path: str) -> list[Samples]:
    """The assignment's sets of sample arguments; a single empty one without a file."""
    if not path:
        return [{}]
    samples: list[Samples] = runpy.run_path(path)["sample_arguments"]()
    return samples


if __name__ == "__main__":
    main()
