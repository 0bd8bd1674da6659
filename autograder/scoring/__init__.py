"""BLEU of a file of translations, its interval, and what it means for the thresholds.

    references = read_references("test.bpe")
    translations = read_translations("translations.txt", expected=len(references))
    result = score(translations, references)              # a Score: bleu, low, high, chrf, signature, ...
    verdicts = judge(result, read_thresholds())           # a Verdict for each threshold
    print(as_text(result, verdicts))

`reading` turns untrusted files into lines, `bleu` turns lines into a score, `verdicts` compares the score
with thresholds, `report` says it to people and programs, `errors` holds the one exception that all of them
raise. It is not a metric of its own: BLEU and chrF are sacreBLEU's.
"""

from .bleu import SAMPLES, SEED, Score, score
from .errors import ScoringError
from .reading import parse_translations, read_references, read_translations, undo_bpe
from .report import as_json, as_text, explain
from .verdicts import Verdict, choose_thresholds, judge, parse_thresholds, read_thresholds

__all__ = [
    "SAMPLES",
    "SEED",
    "Score",
    "ScoringError",
    "Verdict",
    "as_json",
    "as_text",
    "choose_thresholds",
    "explain",
    "judge",
    "parse_thresholds",
    "parse_translations",
    "read_references",
    "read_thresholds",
    "read_translations",
    "score",
    "undo_bpe",
]
