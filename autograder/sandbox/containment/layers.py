"""Chooses the layers of containment, and the command that starts the zygote in them.

Layers are found by trying. Namespaces are tried here, before the zygote starts; the others by each worker, which
reports the layers that it reached before it sees submitted code. A missing layer that is required stops the grading;
nothing is weakened silently.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SandboxUnavailableError
from .namespaces import find_bubblewrap
from .seccomp import filter_for_this_machine

LEVELS = {
    "auto": "seccomp at least, and every further layer that the machine offers",
    "require-namespaces": "as auto, but refuse without bubblewrap's namespaces",
    "require-landlock": "as auto, but refuse without Landlock",
    "require-uid": "as auto, but refuse without a change to another user",
    "unsafe": "whatever the machine offers, even if that is only resource limits; every result says so",
}
LAYERS = ("seccomp", "namespaces", "uid", "landlock")
BOOT = """
import importlib.util, sys
sys.path[:] = [entry for entry in sys.path if entry]
def load(name, folder):
    spec = importlib.util.spec_from_file_location(name, folder + "/__init__.py", submodule_search_locations=[folder])
    sys.modules[name] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package
folders = {folders!r}
load("worker", folders.pop("worker"))
from worker.zygote import main
main(lambda: [load(*named) for named in folders.items()])
"""
UIDS = range(200_000, 260_000)
"""Users that no account has."""


@dataclass(frozen=True)
class Containment:
    """A choice of layers.

    Attributes:
        layers: name -> "required" or "wanted", for those that the worker applies itself.
        bubblewrap: the arguments that run a command in namespaces; empty without namespaces.
        uids: the users that workers change to, a different one each time; empty where that is impossible.
    """

    layers: dict[str, str]
    bubblewrap: tuple[str, ...] = ()
    uids: Sequence[int] = ()

    def command(self, packages: Mapping[str, Path]) -> list[str]:
        """The command that starts the zygote, with the worker's package and others beside it."""
        folders = {name: f"/{name}" if self.bubblewrap else str(folder) for name, folder in packages.items()}
        code = BOOT.replace("{folders!r}", repr(folders))
        return [*self.bubblewrap, sys.executable, "-s", "-B", "-c", code]

    def environment(self) -> dict[str, str]:
        """The zygote's whole environment."""
        threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "VECLIB")}
        fixed = {
            "PYTHONHASHSEED": "0",
            "PYTHONSAFEPATH": "1",
            "LC_ALL": "C.UTF-8",
            "CUDA_VISIBLE_DEVICES": "",
        }
        places = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "TMPDIR": "/tmp"}  # noqa: S108  an empty folder in the worker's own namespace
        loader = {key: os.environ[key] for key in ("LD_LIBRARY_PATH",) if key in os.environ}
        return {**threads, **fixed, **places, **loader}

    def plan(self) -> dict[str, Any]:
        """The part of a fork message that tells the worker how to harden itself."""
        uid = random.SystemRandom().choice(self.uids) if self.uids else None
        return {"layers": self.layers, "uid": uid, "seccomp": filter_for_this_machine().hex()}

    def describe(self, reached: list[str]) -> str:
        """The level for the record, from a worker's report before it ran submitted code."""
        present = [*reached, "namespaces"] if self.bubblewrap else reached
        names = "+".join(layer for layer in LAYERS if layer in present)
        return names if "seccomp" in reached else f"{names or 'rlimits only'} (unsafe)"


def layers_of(described: str) -> tuple[str, ...]:
    """The layers that `Containment.describe` names, the best known first."""
    names = described.removesuffix(" (unsafe)").split("+")
    return tuple(layer for layer in LAYERS if layer in names)


def satisfies(level: str, layers: Collection[str] | None) -> bool:
    """Whether the layers that were in force in a run are as many as a level asks for.

    None stands for a run in which there was no submitted code to contain.
    """
    if level == "unsafe" or layers is None:
        return True
    needed = {"seccomp", level.removeprefix("require-")} - {"auto"}
    return needed <= set(layers)


def choose_containment(level: str, packages: Mapping[str, Path], *, use_namespaces: bool = True) -> Containment:
    """The containment for a level.

    Args:
        level: one of LEVELS.
        packages: name -> folder of the packages that are visible inside.
        use_namespaces: False to behave like a machine that lacks them (for experiments).

    Raises:
        ValueError: for an unknown level.
        SandboxUnavailableError: where namespaces are required and missing.
    """
    if level not in LEVELS:
        raise ValueError(f"sandbox level {level!r} is unknown; known are {', '.join(LEVELS)}")
    must = "wanted" if level == "unsafe" else "required"
    layers = {"no_new_privs": must, "seccomp": must, "landlock": "wanted"}
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    bubblewrap: tuple[str, ...] = ()
    keeps_root, reason = is_root, "they were not tried"
    if use_namespaces:
        bubblewrap, keeps_root, reason = find_bubblewrap(packages, UIDS[0] if is_root else None)
    if level == "require-namespaces" and not bubblewrap:
        raise SandboxUnavailableError(f"level {level}: this machine offers no namespaces ({reason})")
    uids = UIDS if keeps_root else ()
    if uids:
        layers["uid"] = "required" if bubblewrap else "wanted"  # already tried inside bubblewrap
    if level in ("require-landlock", "require-uid"):
        layers[level.removeprefix("require-")] = "required"
    return Containment(layers, bubblewrap, uids)
