"""Local recoding of Adult with ARX's hierarchies, all rows kept: loss and time, against ARX's figures."""

from __future__ import annotations

from functools import partial

import numpy as np

import sudare
from benchmarks.public_data import if_present, public
from benchmarks.work import Goal, Published, Work
from sudare.engine.rows import Draft
from sudare.keys import Key
from sudare.methods import LocalRecoding

ROWS, KEY, HIERARCHIES = 30_162, Key.demo(1), "adult_arx_hierarchies"
# k: loss (NCP) and seconds of ARX 3.9.2
ARX = {2: (0.029, 1.8), 5: (0.057, 3.0), 10: (0.079, 4.6)}


def adult(rows: int) -> Draft:
    quasi = sorted(file.stem for file in public(HIERARCHIES).glob("*.csv"))
    ds = sudare.open(public("adult_arx.parquet"), quasi=quasi, sensitive="salary-class")
    draft = Draft.of(ds, KEY)
    return (
        draft if rows == draft.rows else draft.take(np.random.default_rng(0).permutation(draft.rows)[:rows])
    )


def recoded(draft: Draft, *, k: int) -> Draft:
    return LocalRecoding(k=k, hierarchies=str(public(HIERARCHIES))).apply(draft, KEY)


def against_arx(k: int) -> Work:
    loss, seconds = ARX[k]
    return Work(
        name=f"local recoding of Adult, 8 columns, k={k}",
        sizes={"full": (3_000, 10_000, ROWS), "small": (150, 300)},
        prepare=adult,
        ours=partial(recoded, k=k),
        figures=lambda release: {"NCP": release.details["ncp"]},
        peer_name=f"ARX 3.9.2: NCP {loss}",
        published=Published(seconds, ROWS, "with Java, all rows kept, the same hierarchies"),
        goal=Goal("lower NCP, no slower", lambda row: row["figures"]["NCP"] < loss and row["ratio"] <= 1),
    )


WORKS = if_present("adult_arx.parquet", *map(against_arx, ARX))
