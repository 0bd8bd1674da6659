"""How much of a submission is read. The assignment's own modules have about 40 kB."""

MAX_MODULE_BYTES = 100_000
MAX_MODULES = 50
MAX_SOURCE_BYTES = 300_000  # all modules together

MAX_TRANSLATIONS_BYTES = 10_000_000

MAX_CHECKPOINT_BYTES = 30_000_000
CHECKPOINT_DEPTH = 2  # folders around it

MAX_NOTEBOOK_BYTES = 100_000_000  # pictures in its output included
MAX_NOTEBOOK_TEXT = 10_000_000  # without them
MAX_NOTEBOOKS = 20
MAX_CELLS = 1_000
MAX_CODE_CHARACTERS = 200_000  # all cells together

MAX_ARCHIVE_BYTES = 50_000_000
MAX_UNPACKED_BYTES = 500_000_000  # of a .tar.gz, which is read from front to end
MAX_KEPT_BYTES = 120_000_000  # all files together that count
MAX_RATIO = 200  # unpacked to packed; text has 3 to 10
RATIO_MATTERS_ABOVE = 2_000_000  # bytes unpacked
MAX_ENTRIES = 50_000  # of a folder or an archive; listing is cheap
MAX_DEPTH = 15  # of a folder
MAX_NAME_CHARACTERS = 400
MAX_HEADER_BYTES = 16_384  # of an entry of a .tar.gz

MAX_SECONDS = 60.0  # wall time for all of it; what is read within the bounds above takes far less

TRANSLATIONS, CHECKPOINT = "translations.txt", "best.pt"


def limit_of(name: str) -> int:
    """The most bytes of a file that are read; 0 for files that do not count."""
    if name.endswith(".py"):
        return MAX_MODULE_BYTES
    if name.endswith(".ipynb"):
        return MAX_NOTEBOOK_BYTES
    folder, _, file = name.rpartition("/")
    if file == CHECKPOINT:  # folders of runs, further down, may hold many
        return MAX_CHECKPOINT_BYTES if folder.count("/") < CHECKPOINT_DEPTH else 0
    return MAX_TRANSLATIONS_BYTES if file == TRANSLATIONS else 0
