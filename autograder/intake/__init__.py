"""Takes a submission in: a folder, a .zip, a .tar.gz or a notebook. Nothing of it is run, and nothing is unpacked.

    intake = take_in(Path("anna.zip"), release=Path("student"))
    intake.sources["layers"]            # path for messages, text: the submission's merged with the release's

From the outside in: `submission` (the whole way), `places` (where the modules lie), `modules` (which files count),
`notebooks` and `distribution` (cells to modules), `folders`, `zips` and `tars` (three kinds of `tree`), `names`
(which file names are refused), `limits`, `python_source`, `errors`.

What counts: the contract's modules, further `.py` files *beside them* that they import relatively, and
`translations.txt`. Helpers in folders of their own are not looked at, and a note says so. What is missing is taken
from the release, the package's `__init__` always. Without any module, notebooks count. A folder with nothing but an
archive is taken for the archive.
"""

from .errors import IntakeError, IntakeRefusedError
from .submission import Intake, name_of, take_in

__all__ = ["Intake", "IntakeError", "IntakeRefusedError", "name_of", "take_in"]
