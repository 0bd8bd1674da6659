"""Byte-pair encodings are the same in every process."""

import random
import subprocess
import sys

TRAIN = """
import sys
from data.bpe import Subwords

sentences = [line.split() for line in sys.stdin]
print(Subwords.train(sentences, 40).to_json())
"""


def test_ties_are_broken_alike_in_every_process():
    chance = random.Random(0)
    words = ["".join(chance.choice("abcdefgh") for _ in range(chance.randint(1, 6))) for _ in range(40)]
    text = "\n".join(" ".join(chance.choice(words) for _ in range(6)) for _ in range(30))
    runs = {
        subprocess.run([sys.executable, "-c", TRAIN], input=text, capture_output=True, text=True, check=True).stdout
        for _ in range(3)
    }
    assert len(runs) == 1, "the library's own numbers of letters differ from process to process"
