"""The environment of the processes that gates start: nothing in it can change the outcome."""

import os

_KEPT = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV")


def clean_environment(**more: str) -> dict[str, str]:
    """One thread, UTF-8, no bytecode files, nothing of the user's Python settings."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    fixed = {
        "LC_ALL": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
    }
    return kept | fixed | more
