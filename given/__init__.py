"""All that students are given around their model: training, translation, pictures, the command line.

It works with any package that has the contract's modules; the package's `__main__` names it.

    package.py     the package whose model it is, a fresh model, its optimizer
    config.py      all settings, their flags; presets   decoding.py      `translate`: tokens to translations
    experiment.py  a whole training run                 drawing.py       `attention`: where sentences attend
    training.py    `train`                              pictures.py      maps, matrices, curves
    run_folder.py  checkpoints; `compare`               checks.py        `sanity`, of a new model; `pack`, to hand in
    command_line.py  commands; flags.toml has flags     extras/          raw text, faster decoding

Only instructors have `extras/`.
"""

import sys
from importlib.util import find_spec

for _needed in ("torch", "foundation"):
    if find_spec(_needed) is None:
        _way = "activate your environment (`. .venv/bin/activate`), or run `pip install -r requirements.txt`"
        sys.stderr.write(f"{_needed} is not installed for this Python, {sys.executable}: {_way}\n")
        raise SystemExit(2)
