"""Text from strangers is shown as one printable line, whatever is in it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.texts import clean, printable


@given(st.text(max_size=300) | st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Co"]), max_size=50))
def test_printable_text_is_printable(text):
    shown = printable(text)
    assert re.sub("[\u200c\u200d]", "", shown).isprintable() and len(shown) <= 200
    assert printable(shown) == shown, "what is written is read as it was, so that seals hold"
    if text.isprintable() and len(text) <= 200:
        assert shown == text


@pytest.mark.parametrize("name", ["\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0915\u094d\u200d\u0937"])
def test_joiners_in_names_that_need_them_stay(name):
    """Persian with a zero-width non-joiner, Devanagari with a joiner behind a virama; elsewhere they would disguise."""
    assert printable(name) == name and clean(name, 100) == name
    for cut in range(4, len(name)):
        assert printable(printable(name * 3, cut), cut) == printable(name * 3, cut)
    for disguise in ("a\u200db", f"{name[0]}\u200c", f"\u200d{name[0]}", f"a\u200c{name[0]}"):
        assert "\\u200" in printable(disguise) and "\ufffd" in clean(disguise, 100)
