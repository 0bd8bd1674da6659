"""Pictures travel with the texts that show them."""

import pytest

from release.archives.pictures import named_pictures
from release.problems import ReleaseError


def test_a_picture_is_taken_by_its_name_and_put_where_the_text_looks(tmp_path):
    (tmp_path / "docs/pictures").mkdir(parents=True)
    (tmp_path / "docs/pictures/model.svg").write_bytes(b"<svg/>")
    text = "One ![a model](support/model.svg), one [link](other.svg).\n\n![again](support/model.svg)\n"
    assert named_pictures(tmp_path, text, "a.md") == {"support/model.svg": b"<svg/>"}
    assert named_pictures(tmp_path, "no picture", "a.md") == {}


def test_a_picture_that_is_not_there_is_an_error_with_its_line(tmp_path):
    with pytest.raises(ReleaseError) as error:
        named_pictures(tmp_path, "text\n![a model](support/none.svg)\n", "a.md")
    assert "a.md:2" in str(error.value) and "shows support/none.svg, but there is no such picture" in str(error.value)
