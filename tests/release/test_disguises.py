"""A solution is found in every disguise and every place: packed, encrypted, compiled, encoded, cut into pieces."""

import base64
import binascii
import codecs
import hashlib
import json
import lzma
import marshal
import pickle
import struct
import zlib
from dataclasses import replace

import pytest

from release.build import Project, Release
from release.gates import no_solution_survives
from release.kinds import nothing_is_opaque
from release.opaque import opaque_in
from release.packing import make_wheel, make_zip
from release.pictures import PNG, fault_of_picture, take_pictures

from .conftest import EXAMPLE, copy_example

CODE = (EXAMPLE / "reference" / "affine.py").read_text()
LINE = "return x @ self.weight + self.bias"
PACKED = zlib.compress(CODE.encode())
RENAMED = CODE.replace("weight", "matrix").replace("bias", "offset").replace("d_in", "rows").replace("d_out", "columns")


def locked(text: str, key: bytes = b"the result of a right model") -> str:
    """The lock that hunts once had: compressed, encrypted, in base 85."""
    packed = zlib.compress(text.encode(), 9)
    stream = hashlib.shake_256(key).digest(len(packed))
    return base64.b85encode(bytes(a ^ b for a, b in zip(packed, stream, strict=True))).decode()


def coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def compiled(text: str) -> bytes:
    return marshal.dumps(compile(text, "", "exec"))


def notebook(source: str = "x = 1\n", outputs: object = (), **metadata: object) -> bytes:
    cell = {"cell_type": "code", "source": [source], "outputs": list(outputs), "metadata": metadata, "id": "a"}
    return json.dumps({"cells": [{**cell, "execution_count": None}], "metadata": {}, "nbformat": 4}).encode()


def png(extra: bytes = b"", tail: bytes = b"") -> bytes:
    """A picture of one grey pixel, with more chunks and more bytes after its end."""
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(b"\0\x80"))]
    chunks += [(b"zTXt", extra)] * bool(extra) + [(b"IEND", b"")]
    made = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", binascii.crc32(k + d)) for k, d in chunks)
    return PNG + b"".join(made) + tail


def svg(inside: str) -> bytes:
    return f'<svg xmlns="http://www.w3.org/2000/svg">{inside}</svg>'.encode()


def cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


A, OPAQUE, COPY = "given/a.py", "nobody can read", "a copy of reference/affine.py:"
DISGUISES: dict[str, tuple[str, bytes | str, str]] = {
    "hunts as they were": ("assignment/hunts.packed", locked(CODE), OPAQUE),
    "of no kind": ("assignment/hunts.packed", "x = 1", "is of no kind that students get"),
    "locked in a string of TOML": ("component_tests/rows.toml", f'[box]\nkey = "{locked(CODE)}"\n', OPAQUE),
    "locked in lines of a comment": (A, "x = 1\n# " + "\n# ".join(cut(locked(CODE), 20)), OPAQUE),
    "locked in a list of strings": (A, f"X = {cut(locked(CODE), 10)}", OPAQUE),
    "locked in a notebook's picture": ("1.ipynb", notebook(outputs=[{"data": {"image/png": locked(CODE)}}]), OPAQUE),
    "base 64 in a notebook's output": ("1.ipynb", notebook(outputs=[{"text": [coded(LINE)]}]), COPY),
    "base 32 in a notebook's metadata": ("1.ipynb", notebook(note=base64.b32encode(PACKED).decode()), COPY),
    "a data file of a wheel": ("b.whl", make_wheel({"autograder/a.txt": locked(CODE).encode()}, "1.0"), OPAQUE),
    "an archive in an archive": ("b.zip", make_zip({"c.zip": make_zip({"d.txt": CODE.encode()})}), COPY),
    "an archive under another name": ("a.md", make_zip({"b.txt": CODE.encode()}), "is not text"),
    "an archive as a string": (A, f"X = '{base64.b64encode(make_zip({'a': CODE.encode()})).decode()}'", COPY),
    "after an archive's members": ("b.zip", make_zip({"a.md": b"x"}) + PACKED, "belong to none of its members"),
    "after a picture's end": ("a.png", png(tail=PACKED), "bytes after its end"),
    "a picture's text": ("a.png", png(extra=b"Comment\0\0" + PACKED), "has a chunk 'zTXt'"),
    "an SVG's CDATA": ("a.svg", svg(f"<desc><![CDATA[{CODE}]]></desc>"), COPY),
    "an SVG's entities": ("a.svg", svg(f"<desc>{''.join(f'&#{ord(c)};' for c in LINE)}</desc>"), COPY),
    "an SVG's script": ("a.svg", svg("<script>draw()</script>"), "has a script: <script>"),
    "an SVG's picture that is none": (
        "a.svg",
        svg(f'<image href="data:image/png;base64,{coded(CODE)}"/>'),
        "refers to",
    ),
    "a constant in base 64": (A, f"X = '{coded(LINE)}'", COPY),
    "base 85 of lzma": ("README.md", base64.b85encode(lzma.compress(CODE.encode())).decode(), COPY),
    "base 64 of base 16": ("README.md", coded(LINE.encode().hex()), COPY),
    "digits with spaces": (A, f"X = '{locked(CODE).encode().hex(' ')}'", OPAQUE),
    "marshal as bytes": (A, f"X = {compiled(CODE)!r}", OPAQUE),
    "marshal in base 16": (A, f"X = '{compiled(CODE).hex()}'", OPAQUE),
    "compiled": ("given/a.pyc", b"\xa7\r\r\n" + bytes(12) + compiled(CODE), "is not text"),
    "pickled in base 64": (A, f"X = '{base64.b64encode(pickle.dumps([LINE])).decode()}'", COPY),
    "a list of bytes": (A, f"X = {list(LINE.encode())}", COPY),
    "strings that are added": (A, f"X = {' + '.join(map(repr, cut(LINE, 5)))}", COPY),
    "strings backwards": (A, f"X = {LINE[::-1]!r}[::-1]", COPY),
    "strings that a cell adds": ("1.ipynb", notebook(f"x = {' + '.join(map(repr, cut(LINE, 5)))}"), COPY),
    "rot13": ("README.md", codecs.encode(LINE, "rot13"), COPY),
    "escapes": (A, "X = '" + "".join(f"\\x{ord(character):02x}" for character in LINE) + "'", COPY),
    "renamed in a comment": (A, "".join(f"# {line}\n" for line in RENAMED.splitlines()), COPY),
    "characters that cannot be seen": ("README.md", "".join(chr(0xE0000 + ord(c)) for c in LINE), OPAQUE),
    "another engine": ("autograder/testing/case.py", "x = 1", "differs from the repository's file"),
    "another skeleton": ("student/affine.py", "x = 1", "is not what the release has made of the reference"),
}


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return copy_example(tmp_path_factory.mktemp("kit"))


@pytest.mark.parametrize("name", DISGUISES)
def test_a_disguised_solution_is_found(kit: Project, example_release: Release, name: str) -> None:
    path, content, says = DISGUISES[name]
    members = {f"assignment/{path}": content.encode() if isinstance(content, str) else content}
    release = replace(example_release, outputs={"dist/student.zip": make_zip(members)})
    faults = nothing_is_opaque(kit, release) + no_solution_survives(kit, release)
    assert all(fault.startswith(f"dist/student.zip!assignment/{path}") for fault in faults), faults
    assert any(says in fault for fault in faults), faults


def test_a_release_passes_with_what_updates_compare_with(kit: Project, example_release: Release, doctored) -> None:
    assert nothing_is_opaque(kit, example_release) + no_solution_survives(kit, example_release) == []
    (fault,) = nothing_is_opaque(kit, doctored(**{"assignment/pytest.ini": b"[pytest]\n"}))
    assert fault == "dist/student.zip!assignment/.handed_out.zip!pytest.ini: differs from the file beside the archive"


@pytest.mark.parametrize(
    "text",
    [
        f"sha256 = '{hashlib.sha256(CODE.encode()).hexdigest()}'",  # of a file that is handed out
        '["Which axis?", "000c1e 29ef71 2aba88 2b2106 447b8e 4d7431 5eb8a8 825d7c"]',  # a pattern: sorted
        "assignment/misconceptions/multi_head_attention.toml#multi-head-scaled-by-model",
        "le ch@@ at dort ici . ||| the cat sleeps here .\n" * 99,
        "-> `(batch, heads, queries, keys)`: Σ exp(QKᵀ/√d) · 1.0e-5 = 0.731 [0, 0, 0, 1]; " * 9,
    ],
)
def test_what_can_be_read_is_not_opaque(text: str) -> None:
    assert not list(opaque_in("a.txt", text.encode(), {hashlib.sha256(CODE.encode()).hexdigest()}))


def test_the_place_is_told() -> None:
    text = f"x = 1\n\nY = '{locked(CODE)}'\n"
    assert {line for line, _ in opaque_in("a.py", text.encode())} == {3}


def test_pictures() -> None:
    assert fault_of_picture(png()) == ""
    embedded = f"<a>\n<image href='data:image/png;base64,{base64.b64encode(png()).decode()}'/>"
    text, pictures = take_pictures(embedded)
    assert pictures == [(2, png())] and text == "<a>\n<image href=''/>"
    assert fault_of_picture(svg("").replace(b"<svg", b"<!DOCTYPE a [<!ENTITY b 'c'>]><svg")).startswith("is no picture")
    for damaged in (png()[:40], png().replace(b"IDAT", b"IDAU"), b"GIF89a"):
        assert fault_of_picture(damaged)
