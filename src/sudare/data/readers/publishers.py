"""Where public data sets come from, and how a publisher's files become the table that the published numbers use.

Only `fetch` downloads, and only `sudare fetch NAME` calls it: nothing else in sudare does. What arrives is checked
twice: a publisher's text file by its checksum, and every table by the checksum of its content.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sudare.data.connection import fresh_name, private_folder
from sudare.data.readers import conversions
from sudare.errors import DataError, UsageError, nearest
from sudare.examples import catalog
from sudare.progress import stage

if TYPE_CHECKING:
    import pyarrow as pa

UCI = "https://archive.ics.uci.edu/static/public"
LARGEST = 256 << 20  # bytes, packed and unpacked
SECONDS = 60
CHUNK = 1 << 20
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Publisher:
    """An address, the files of its archive with their checksums, and the way from them to a table."""

    address: str
    convert: Callable[[Mapping[str, Path]], pa.Table]
    files: Mapping[str, str] = field(default_factory=dict)


PUBLISHERS: dict[str, Publisher] = {
    "adult": Publisher(
        f"{UCI}/2/adult.zip",
        conversions.adult,
        {
            "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        },
    ),
    "diabetes": Publisher(
        f"{UCI}/296/diabetes+130-us+hospitals+for+years+1999-2008.zip",
        conversions.diabetes,
        {"diabetic_data.csv": "0689e7ec031237dc63031b938805c48377748761a3b26acab621567afa24df97"},
    ),
    "online_retail": Publisher(
        f"{UCI}/352/online+retail.zip", conversions.online_retail, {"Online Retail.xlsx": ""}
    ),
    "retail400": Publisher(f"{UCI}/352/online+retail.zip", conversions.retail400, {"Online Retail.xlsx": ""}),
    "adult_arx": Publisher(
        "https://raw.githubusercontent.com/arx-deidentifier/arx/master/data/adult.csv",
        conversions.adult_arx,
        {"adult.csv": "0711f26a4ba718f2eb8fa04395fc296cb3be1ba67135c828b93f6506bf4d8ca9"},
    ),
}


def fetch(name: str, *, address: str | None = None) -> Path:
    """Download a public data set into the folder of public data, unless it is there.

    `address` is another place of the same file, for example a mirror; what comes from it is checked the same way.
    """
    from sudare.data.files.writers import check_output, write_table

    target = catalog.place(name)
    if target.exists():
        return catalog.find(name)
    publisher = _publisher(name)
    check_output(target)
    packed = _download(address or publisher.address)
    try:
        table = _converted(publisher, packed)
    finally:
        packed.unlink(missing_ok=True)
    catalog.check_content(table, name, address or publisher.address)
    write_table(table, target)
    return target


def _publisher(name: str) -> Publisher:
    if name in PUBLISHERS:
        return PUBLISHERS[name]
    if name not in catalog.NAMES:
        raise UsageError(f"unknown data set '{name}'; {nearest(name, catalog.NAMES)}")
    raise UsageError(
        f"'{name}' has no file at its publisher that sudare could read; origin: {catalog.NAMES[name].origin}"
    )


def _download(address: str) -> Path:
    """The file behind an address, in the private folder of this process."""
    import urllib.error
    import urllib.request

    _check_address(address)

    class Careful(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *given: Any, **named: Any) -> Any:
            request = super().redirect_request(*given, **named)
            if request is not None:
                _check_address(request.full_url)
            return request

    stage(f"downloading {address}")
    copy = private_folder() / fresh_name("download")
    try:
        with (
            urllib.request.build_opener(Careful).open(address, timeout=SECONDS) as answer,
            open(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out,
        ):
            _copy(answer, out, address)
    except urllib.error.HTTPError as error:
        raise DataError(
            f"{address}: the publisher answered {error.code}; try --url with another address"
        ) from None
    except (OSError, ValueError) as error:
        kind = type(error).__name__
        raise DataError(
            f"{address}: cannot be downloaded ({kind}); check the network, or copy the file by hand"
        ) from None
    return copy


def _check_address(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise UsageError(f"{address}: give an https:// address")


def _copy(stream: IO[bytes], out: IO[bytes], where: str) -> str:
    """Copy with a limit; returns the checksum of what was copied."""
    digest, size = hashlib.sha256(), 0
    while chunk := stream.read(CHUNK):
        size += len(chunk)
        if size > LARGEST:
            raise DataError(f"{where}: larger than {LARGEST >> 20} MB; this is not the file that is meant")
        digest.update(chunk)
        out.write(chunk)
    return digest.hexdigest()


def _converted(publisher: Publisher, packed: Path) -> pa.Table:
    """The table, from the archive's files or from the one file that was downloaded; their copies go at once."""
    copies = {
        name: private_folder() / f"{fresh_name('member')}{Path(name).suffix}" for name in publisher.files
    }
    try:
        for name, copy in copies.items():
            with _member(packed, name) as stream, open(copy, "xb") as out:
                found = _copy(stream, out, name)
            if publisher.files[name] not in ("", found):
                raise DataError(
                    f"{name}: the publisher's file has changed; its checksum is not the known one"
                )
        stage("converting the publisher's files")
        return publisher.convert(copies)
    except (zipfile.BadZipFile, KeyError, NotImplementedError):
        raise DataError(f"{publisher.address}: not the archive that is meant; try again") from None
    finally:
        for copy in copies.values():
            copy.unlink(missing_ok=True)


def _member(packed: Path, name: str) -> IO[bytes]:
    if not zipfile.is_zipfile(packed):
        return open(packed, "rb")
    with zipfile.ZipFile(packed) as archive:
        found = next((member for member in archive.namelist() if Path(member).name == name), name)
        return archive.open(found)
