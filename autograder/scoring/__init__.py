"""Scores a file of translations: BLEU, its interval, and a verdict for each threshold.

    references = read_references("test.bpe")
    translations = read_translations("translations.txt", expected=len(references))
    result = score(translations, references)              # a Score: bleu, low, high, chrf, signature, ...
    verdicts = judge(result, read_thresholds())           # a Verdict for each threshold
    print(as_text(result, verdicts))

`reading` turns untrusted files into lines, `bleu` turns lines into a score, `verdicts` compares the score with
thresholds, and presents both to people and programs. All raise `ScoringError`. BLEU and chrF are sacreBLEU's; there
is no metric of our own.
"""

from .bleu import DEFAULT_TOKENIZATION, SAMPLES, SEED, TOKENIZATIONS, Measured, Score, score
from .reading import ScoringError, parse_translations, read_references, read_translations, undo_bpe
from .verdicts import Verdict, as_json, as_text, choose_thresholds, explain, judge, read_thresholds

__all__ = [
    "DEFAULT_TOKENIZATION",
    "SAMPLES",
    "SEED",
    "TOKENIZATIONS",
    "Measured",
    "Score",
    "ScoringError",
    "Verdict",
    "as_json",
    "as_text",
    "choose_thresholds",
    "explain",
    "judge",
    "parse_translations",
    "read_references",
    "read_thresholds",
    "read_translations",
    "score",
    "undo_bpe",
]
