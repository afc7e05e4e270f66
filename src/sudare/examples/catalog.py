"""Public data sets by name: read from a folder the user names, checked by their checksum.

The folder is `SUDARE_DATA` (or `--data-dir`). sudare ships none of these files and reads them from nowhere else: the
error of a missing one says where it comes from. `sudare fetch` downloads the ones whose publisher has them as a file.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.errors import DataError, UsageError, nearest

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class PublicData:
    """What it is, where it comes from, and two checksums: of the file we know, and of what any file of it holds."""

    what: str
    origin: str
    sha256: str
    content: str
    fetched: bool = False  # whether `sudare fetch` can download it


NAMES: dict[str, PublicData] = {
    "retail400": PublicData(
        "400 customers of Online Retail, the purchase histories of P1 and P3",
        "derived from Online Retail, UCI Machine Learning Repository",
        "bc43bb5ed21f458145d0d3eb1c3e93d2f886c73af8eabf80cac81c3fd57bb1a6",
        "39428f1e263111d329340ec23897cdeac96121994db90c2ca9431bd79263d32c",
        fetched=True,
    ),
    "online_retail": PublicData(
        "Online Retail, complete",
        "UCI Machine Learning Repository, Online Retail, CC BY 4.0",
        "233df6b6a3d9d409ef8c882ced7f2f23c44c5e726b0de3af95bfe6874e3be6d7",
        "883c900dbc6d4f1e007600c08bb20f7f6b0c66349bb0a9406aa81ad42b460cb3",
        fetched=True,
    ),
    "diabetes": PublicData(
        "Diabetes 130-US hospitals",
        "UCI Machine Learning Repository, CC BY 4.0",
        "40593d6f4fbd687c5e138a8eb44f646c2494622e419e75be2cc5d7fb18662a52",
        "2a9ffc762a0a4d466e14dcc08c911a5b356ba59f85790342c000417b7fc6373f",
        fetched=True,
    ),
    "adult": PublicData(
        "Adult (census income), both splits",
        "UCI Machine Learning Repository, Adult, CC BY 4.0",
        "f91594ef2126c61e05c7870acc7f3ec3334c6cd68bdb92d92da2d3313b52af0c",
        "fff7b5f1b40ad534116392bf96cbfdf5cd11a0a311955ccc7045f66ec22f8525",
        fetched=True,
    ),
    "acs2018": PublicData(
        "American Community Survey 2018, microdata of one year",
        "US Census Bureau, public domain",
        "e6548db4daeff3de4dd2b94d6f522ba442f10d670e149934357e31075a89ea8f",
        "ee26f7975f23d5e5770828d5fbace6a77eda63bf521c50825eecb9244b0a09a3",
    ),
    "fies_8333": PublicData(
        "Family income and expenditure, 8,333 households",
        "Philippine Statistics Authority, FIES",
        "99b5ed3088436b288b0db8d3e5d1503e0268cb72f66dffba1950a950603e92df",
        "d47e729e3cdbbe5d9f7f69332e2047a0f5882c76ced6a084de0e0f8d5e40bf4c",
    ),
    "casc_census": PublicData(
        "the CASC reference table Census",
        "CASC project, through R package sdcMicro",
        "d484f77abf634a2f144e425990c9e8686d33c768b6e47d37ae5d29e1245fb6ed",
        "1e035683ae8cda8f812ee7e41f71432da7f307743862087ed666069be4845251",
    ),
    "tarragona": PublicData(
        "the CASC reference table Tarragona",
        "CASC project, through R package sdcMicro",
        "e7963e6d3fe6a3d26a969e119b1e7471e3c70e2780e0a8d08578c8aa787ab2ef",
        "5843039a76b6ff516cf00770b82108e338f8db2ffa7a0a068e823e5caceecdec",
    ),
    "eia": PublicData(
        "the CASC reference table EIA",
        "CASC project, through R package sdcMicro",
        "42a187e1509810c1b6f44c2d0322c70f62c1add383ced55dcb81015609ad3f48",
        "5d24d24484593eac336fa3ed659db6c4f27b6d0eb7d27e9b5ffabc1e66b5bebf",
    ),
    "adult_arx": PublicData(
        "Adult as ARX uses it",
        "the ARX project, Apache-2.0",
        "614d5bd2f62431efae99783d3a877381564b2a25af785f7bbbcbdbbd4d9a489b",
        "c86ee47148eb6ddb84e24953ec19bdfe13ae914c5100f20af58a51e323ea5dc5",
        fetched=True,
    ),
}


def folder() -> Path | None:
    """The folder of public data, None when the user named none."""
    given = os.environ.get("SUDARE_DATA")
    return Path(given) if given else None


def place(name: str) -> Path:
    """Where the file of a public data set is, or belongs."""
    where = folder()
    if name not in NAMES:
        raise UsageError(f"unknown data set '{name}'; {nearest(name, NAMES)}")
    if where is None:
        raise DataError(
            f"'{name}' ({NAMES[name].what}) is not part of sudare; set SUDARE_DATA (or --data-dir) to a folder that "
            f"holds {name}.parquet; {_how(name)}"
        )
    return where / f"{name}.parquet"


def find(name: str) -> Path:
    """The file of a public data set; it must be there and be the one the published numbers come from."""
    path = place(name)
    if not path.is_file():
        raise DataError(f"{path}: not found ({NAMES[name].what}); {_how(name)}")
    if _sha256(path) != NAMES[name].sha256:
        _check_rewritten(path, name)
    return path


def check_content(table: pa.Table, name: str, where: object) -> None:
    """Refuse a table that is not the one the published numbers come from."""
    from sudare.examples.content import content_digest

    if content_digest(table) != NAMES[name].content:
        raise DataError(f"{where}: differs from the table that the published numbers come from; get it again")


def _check_rewritten(path: Path, name: str) -> None:
    """Another program wrote the file: then its content decides."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path, partitioning=None)
    except (pa.ArrowException, OSError):
        raise DataError(
            f"{path}: differs from the table that the published numbers come from; get it again"
        ) from None
    check_content(table, name, path)


def _how(name: str) -> str:
    told = f"origin: {NAMES[name].origin}"
    return f"to download it: sudare fetch {name} ({told})" if NAMES[name].fetched else told


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
