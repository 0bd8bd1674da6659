"""The glossary is in order, complete in itself, and names what exists."""

import ast
import re

import pytest

from foundation.places import ROOT

TEXT = (ROOT / "notebooks/prose/glossary.md").read_text(encoding="utf-8").partition("\n## ")[0]
HEADINGS = re.findall(r"^\*\*(.+?)\.?\*\*", TEXT, re.MULTILINE)
TERMS = {term.lower() for heading in HEADINGS for term in re.split(r", | \(|\)", heading) if term}


CORE = """attention, backpropagation, bleu, dropout, embedding, encoder, epoch, logits, loss, mask, overfitting, query,
key, value, regularisation, softmax, token, d_model, gradient clipping, head dimension, score matrix, weight decay,
residual connection, positional encoding, learning rate, layer normalisation, alignment error rate, feed-forward
network"""


@pytest.mark.parametrize("term", CORE.replace("\n", " ").split(", "))
def test_a_term_has_an_entry(term):
    assert term in TERMS


def test_every_word_in_italics_has_an_entry():
    for words in re.findall(r"(?<!\*)\*([^*\n]+(?:\n[^*\n]+)?)\*(?!\*)", TEXT):
        term = " ".join(words.split()).lower()
        forms = {term, term.removesuffix("s"), re.sub("ies$", "y", term), re.sub("ses$", "sis", term)}
        assert forms & TERMS or term in ("italics",), term


def defined_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / ("" if "/" in file else "reference") / file).read_text(encoding="utf-8"))
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found |= {node.name, *(f"{node.name}.{argument.arg}" for argument in node.args.args)}
        if isinstance(node, ast.ClassDef):
            found.add(node.name)
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    found.add(f"{node.name}.{item.name}")
                elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                    found.add(f"{node.name}.{item.target.id}")
    return found


def test_files_and_names_exist():
    places = re.findall(r"`([\w/]+\.py)`,\s+`([\w.]+)`", TEXT)
    assert len(places) >= 8
    for file, name in places:
        assert name in defined_in(file), f"{file}: {name}"
