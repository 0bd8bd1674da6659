"""sacreBLEU's tokenizations: splitting raw text into the words that BLEU counts.

The corpus of the assignment is tokenized already, so `none` is the default. Raw text needs `13a` (the usual one for
European languages), `intl`, `zh` or `char`. Those for Japanese and Korean, and those with a SentencePiece model, need
packages that the kit does not install; choosing one without its package is an error that names it.
"""

import logging
import re
import warnings

from sacrebleu.metrics.bleu import BLEU

from foundation.printable_text import printable

from .errors import ScoringError

DEFAULT = "none"
NAMES: tuple[str, ...] = tuple(BLEU.TOKENIZERS)
"""All that the installed sacreBLEU knows, in its order."""
_INSTALLATION = re.compile(r"pip install \S+")


def make_metric(tokenize: str = DEFAULT) -> BLEU:
    """Creates sacreBLEU's metric with one of its tokenizations.

    Raises:
        ScoringError: if sacreBLEU does not know the name, or lacks a package or a model for it.
    """
    if tokenize not in NAMES:
        raise ScoringError(f'tokenize "{printable(tokenize, 40)}": unknown; sacreBLEU has {", ".join(NAMES)}')
    logger = logging.getLogger("sacrebleu")
    level = logger.level
    logger.setLevel(logging.CRITICAL)  # its remarks on the way would be more lines on stderr
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # sacreBLEU's own calls
            return BLEU(tokenize=tokenize, force=True)
    except (ImportError, RuntimeError, OSError, SystemExit) as error:
        raise ScoringError(f"tokenize {tokenize}: {_reason(error)}") from None
    finally:
        logger.setLevel(level)


def _reason(error: BaseException) -> str:
    """What sacreBLEU lacks: the package that its message names, or else why its model could not be loaded."""
    if found := _INSTALLATION.search(str(error)):
        return f"needs a package that is not installed; {found[0]}"
    return f"cannot be used ({printable(' '.join(str(error).split()), 200)})"
