"""Public data sets by name: read from a folder the user names, checked by their checksum.

The folder is `SUDARE_DATA` (or `--data-dir`). sudare ships none of these files and fetches nothing: the error of a
missing one says where it comes from.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from sudare.errors import DataError


@dataclass(frozen=True)
class PublicData:
    what: str
    origin: str
    sha256: str


NAMES: dict[str, PublicData] = {
    "retail400": PublicData(
        "400 customers of Online Retail, the purchase histories of P1 and P3",
        "derived from Online Retail, UCI Machine Learning Repository",
        "bc43bb5ed21f458145d0d3eb1c3e93d2f886c73af8eabf80cac81c3fd57bb1a6",
    ),
    "online_retail": PublicData(
        "Online Retail, complete",
        "UCI Machine Learning Repository, Online Retail, CC BY 4.0",
        "233df6b6a3d9d409ef8c882ced7f2f23c44c5e726b0de3af95bfe6874e3be6d7",
    ),
    "diabetes": PublicData(
        "Diabetes 130-US hospitals",
        "UCI Machine Learning Repository, CC BY 4.0",
        "40593d6f4fbd687c5e138a8eb44f646c2494622e419e75be2cc5d7fb18662a52",
    ),
    "adult": PublicData(
        "Adult (census income), both splits",
        "UCI Machine Learning Repository, Adult, CC BY 4.0",
        "f91594ef2126c61e05c7870acc7f3ec3334c6cd68bdb92d92da2d3313b52af0c",
    ),
    "acs2018": PublicData(
        "American Community Survey 2018, microdata of one year",
        "US Census Bureau, public domain",
        "e6548db4daeff3de4dd2b94d6f522ba442f10d670e149934357e31075a89ea8f",
    ),
    "fies_8333": PublicData(
        "Family income and expenditure, 8,333 households",
        "Philippine Statistics Authority, FIES",
        "99b5ed3088436b288b0db8d3e5d1503e0268cb72f66dffba1950a950603e92df",
    ),
    "casc_census": PublicData(
        "the CASC reference table Census",
        "CASC project, through R package sdcMicro",
        "d484f77abf634a2f144e425990c9e8686d33c768b6e47d37ae5d29e1245fb6ed",
    ),
    "tarragona": PublicData(
        "the CASC reference table Tarragona",
        "CASC project, through R package sdcMicro",
        "e7963e6d3fe6a3d26a969e119b1e7471e3c70e2780e0a8d08578c8aa787ab2ef",
    ),
    "eia": PublicData(
        "the CASC reference table EIA",
        "CASC project, through R package sdcMicro",
        "42a187e1509810c1b6f44c2d0322c70f62c1add383ced55dcb81015609ad3f48",
    ),
    "adult_arx": PublicData(
        "Adult as ARX uses it",
        "the ARX project, Apache-2.0",
        "614d5bd2f62431efae99783d3a877381564b2a25af785f7bbbcbdbbd4d9a489b",
    ),
}


def folder() -> Path | None:
    """The folder of public data, None when the user named none."""
    given = os.environ.get("SUDARE_DATA")
    return Path(given) if given else None


def find(name: str) -> Path:
    """The file of a public data set; it must be there and be the one the published numbers come from."""
    known = NAMES[name]
    where = folder()
    if where is None:
        raise DataError(
            f"'{name}' ({known.what}) is not part of sudare; set SUDARE_DATA (or --data-dir) to a folder that holds "
            f"{name}.parquet. Origin: {known.origin}"
        )
    path = where / f"{name}.parquet"
    if not path.is_file():
        raise DataError(f"{path}: not found. '{name}' is {known.what}; origin: {known.origin}")
    if _sha256(path) != known.sha256:
        raise DataError(f"{path}: differs from the file that the published numbers come from; get it again")
    return path


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
