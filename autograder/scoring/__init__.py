"""Scores a file of translations: BLEU, its interval, and a verdict for each threshold.

    references = read_references("test.bpe")
    translations = read_translations("translations.txt", expected=len(references))
    result = score(translations, references)              # a Score: bleu, low, high, chrf, signature, ...
    verdicts = judge(result, {"beginner": 0.3})           # a Verdict for each threshold
    print(as_text(result, verdicts))

`reading` turns untrusted files into lines, `bleu` turns lines into a score, `verdicts` compares the score with
thresholds, and presents both. All raise `ScoringError`. BLEU and chrF are sacreBLEU's; there
is no metric of our own.
"""

from .bleu import DEFAULT_TOKENIZATION, TOKENIZATIONS, Measured, Score, score
from .reading import ScoringError, parse_translations, read_references, read_translations, undo_bpe
from .verdicts import Verdict, as_text, explain, judge, parse_thresholds

__all__ = [
    "DEFAULT_TOKENIZATION",
    "TOKENIZATIONS",
    "Measured",
    "Score",
    "ScoringError",
    "Verdict",
    "as_text",
    "explain",
    "judge",
    "parse_thresholds",
    "parse_translations",
    "read_references",
    "read_translations",
    "score",
    "undo_bpe",
]
