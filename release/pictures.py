"""Pictures for students: each is one, and nothing else.

An SVG is XML without scripts, and shows pictures of these kinds only. A PNG has the chunks that it needs, of the size
that its head announces, and ends where it ends.
"""

import base64
import binascii
import re
import struct
import zlib
from xml.etree import ElementTree

PNG = b"\x89PNG\r\n\x1a\n"
_CHUNKS = (b"IHDR", b"PLTE", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"pHYs", b"bKGD", b"sBIT", b"IDAT", b"IEND")
_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""Numbers per pixel, by the type of colour."""
_EMBEDDED = re.compile(r"data:image/(?P<kind>svg\+xml|png);base64,(?P<data>[A-Za-z0-9+/=\s]+)")
_SCRIPT = ("script", "foreignObject", "handler", "iframe", "object", "embed")


def fault_of_picture(content: bytes) -> str:
    """Why a file is not just a picture; "" if it is one."""
    return _fault_of_png(content) if content.startswith(PNG) else _fault_of_svg(content)


def take_pictures(text: str) -> tuple[str, list[bytes]]:
    """Return the text without the pictures embedded in it, and these. Lines stay what they are."""
    pictures: list[bytes] = []

    def take(match: re.Match[str]) -> str:
        try:
            picture = base64.b64decode("".join(match["data"].split()), validate=True)
        except binascii.Error:
            return match[0]
        if (match["kind"] == "png") != picture.startswith(PNG) or fault_of_picture(picture):
            return match[0]
        pictures.append(picture)
        return "\n" * match[0].count("\n")

    return _EMBEDDED.sub(take, text), pictures


def _fault_of_svg(content: bytes) -> str:
    try:
        text = content.decode("utf-8")
        root = ElementTree.fromstring(text) if "<!ENTITY" not in text else None  # noqa: S314 (without entities)
    except (UnicodeDecodeError, ElementTree.ParseError) as error:
        return f"is no picture: neither a PNG nor XML ({error})"
    if root is None or _local(root.tag) != "svg":
        return "is no picture: not an SVG, or one with entities of its own"
    for node in root.iter():
        if _local(node.tag) in _SCRIPT or any(_local(name).lower().startswith("on") for name in node.attrib):
            return f"has a script: <{_local(node.tag)}>"
        for name, value in node.attrib.items():
            if _local(name) == "href" and not value.startswith("#") and take_pictures(value)[0].strip():
                return f"refers to something else than a picture in it: {value[:40]!r}"
    return ""


def _local(name: object) -> str:
    return str(name).rpartition("}")[2]


def _fault_of_png(content: bytes) -> str:
    chunks: dict[bytes, bytes] = {}
    place, kind = len(PNG), b""
    try:
        while kind != b"IEND":
            length, kind = struct.unpack_from(">I4s", content, place)
            if kind not in _CHUNKS:
                return f"has a chunk {kind.decode('latin-1')!r}, which a picture does not need"
            end = place + 8 + length
            if content[end : end + 4] != zlib.crc32(content[place + 4 : end]).to_bytes(4, "big"):
                return f"is no PNG (chunk {kind.decode('latin-1')!r} is damaged)"
            chunks[kind] = chunks.get(kind, b"") + content[place + 8 : end]
            place = end + 4
        if content[place:] or chunks[b"IEND"]:
            return f"has {len(content) - place + len(chunks[b'IEND'])} bytes after its end"
        width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
        size = height * (1 + -(-width * depth * _SAMPLES[colour] // 8))
        reader = zlib.decompressobj()
        pixels = reader.decompress(chunks[b"IDAT"], size + 1)
    except (struct.error, KeyError, zlib.error) as error:
        return f"is no PNG ({error})"
    if interlaced or len(pixels) != size or reader.unused_data or not reader.eof:
        return "has other data than its pixels"
    return ""
