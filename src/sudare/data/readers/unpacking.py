"""Files that are not plain UTF-8 with one kind of line end are streamed into the private folder as that.

Other encodings, gz, zip, and lines that end in different ways in one file.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sudare.data.connection import fresh_name, private_folder
from sudare.errors import DataError, UsageError

CHUNK = 1 << 20
# a packed file may unpack to a hundred times its size; up to 64 MB nobody cares
LARGEST_RATIO = 100
ALWAYS_ALLOWED = 64 << 20


def as_utf8(path: Path, encoding: str | None) -> Path:
    """The path of the same text as plain UTF-8: the file itself when it is that already."""
    declared = _codec(encoding)
    try:
        with _unpacked(path) as stream:
            found = _bom(stream.read(4)) or declared
        if found in ("utf-8", "utf-8-sig") and not _packing(path) and _one_line_end(path):
            return path
        return _copied(path, found)
    except UnicodeError:
        raise DataError(f"{path}: not {found} text; name its encoding, e.g. --encoding shift_jis") from None
    except (zlib.error, EOFError, zipfile.BadZipFile, gzip.BadGzipFile, NotImplementedError):
        raise DataError(f"{path}: the packed file is damaged; unpack it by hand or copy it again") from None


def _copied(path: Path, encoding: str) -> Path:
    copy = private_folder() / fresh_name("text")
    with (
        _unpacked(path) as stream,
        open(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out,
    ):
        for text in _decoded(path, stream, encoding):
            out.write(text)
    return copy


def _packing(path: Path) -> str:
    """How a file is packed: .gz, .zip, or nothing."""
    ending = path.suffix.lower()
    return ending if ending in (".gz", ".zip") else ""


def _codec(encoding: str | None) -> str:
    """The codec's name; Python has codecs that make no text, which are none of ours."""
    try:
        "".encode(encoding or "utf-8")
        return codecs.lookup(encoding or "utf-8").name
    except (LookupError, ValueError):
        raise UsageError(
            f"unknown encoding '{encoding}'; for example: utf-8, latin-1, cp1252, shift_jis"
        ) from None


def _bom(start: bytes) -> str | None:
    if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    return "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else None


@contextmanager
def _unpacked(path: Path) -> Iterator[IO[bytes]]:
    if _packing(path) == ".gz":
        with gzip.open(path) as stream:
            yield stream  # type: ignore[misc]
    elif _packing(path) == ".zip":
        with zipfile.ZipFile(path) as archive:
            members = [m for m in archive.infolist() if not m.is_dir()]
            if len(members) != 1:
                raise DataError(
                    f"{path}: the archive holds {len(members)} files; give one with a single table"
                )
            if members[0].flag_bits & 1:
                raise DataError(f"{path}: the archive asks for a password; unpack it by hand first")
            with archive.open(members[0]) as stream:
                yield stream
    else:
        with open(path, "rb") as stream:
            yield stream


def _decoded(path: Path, stream: IO[bytes], encoding: str) -> Iterator[bytes]:
    limit = max(ALWAYS_ALLOWED, LARGEST_RATIO * path.stat().st_size)
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    lines = io.IncrementalNewlineDecoder(None, translate=True)
    size = 0
    while chunk := stream.read(CHUNK):
        size += len(chunk)
        if size > limit:
            raise DataError(
                f"{path}: unpacks to more than {LARGEST_RATIO} times its size; unpack it by hand first"
            )
        yield lines.decode(decoder.decode(chunk)).encode("utf-8")
    yield lines.decode(decoder.decode(b"", final=True), final=True).encode("utf-8")


def _one_line_end(path: Path) -> bool:
    """Whether every line ends the same way; a file without a line feed ends its lines with carriage returns."""
    feeds = pairs = returns = 0
    last = b""
    with open(path, "rb") as stream:
        while chunk := stream.read(CHUNK):
            feeds += chunk.count(b"\n")
            returns += chunk.count(b"\r")
            pairs += chunk.count(b"\r\n") + (last == b"\r" and chunk.startswith(b"\n"))
            last = chunk[-1:]
    return returns == 0 or returns == pairs == feeds
