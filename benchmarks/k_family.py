"""Mondrian, local recoding and microaggregation: time, loss and growth, beside peers and their published figures.

python -m benchmarks.k_family [--size small] [--no-peer]

Local recoding needs the public data (SUDARE_DATA); anonypy is asked when it is installed. Figures of ARX and
sdcMicro were measured apart, with Java and R, and stand here as limits.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sudare
from sudare.data import Dataset, Roles
from sudare.data.keys import Key
from sudare.methods import LocalRecoding, Microaggregate, Mondrian
from sudare.methods.draft import Draft

SIZES = {"full": (32_000, 180_000, 1_000_000), "small": (500, 1_000, 2_000)}
WIDTHS = {"age": 74, "school": 16, "sex": 2, "hours": 100, "race": 5, "zip": 5000}
ARX = {2: (0.029, 1.8), 5: (0.057, 3.0), 10: (0.079, 4.6)}
SDCMICRO_MDAV = 0.48
KEY = Key.demo(1)


def run(size: str = "full", repeats: int = 3, *, peer: bool = True) -> list[dict[str, Any]]:
    """One row per work and number of records: CPU seconds, loss, and the peer's figures."""
    rows = [mondrian(records, repeats) for records in SIZES[size]]
    slope = growth([(row["records"], row["seconds"]) for row in rows])
    rows.append({"work": "growth of: mondrian k=5", "exponent": slope})
    if peer and importlib.util.find_spec("anonypy"):
        rows.append(anonypy(min(SIZES[size][0], 2_000), repeats))
    if os.environ.get("SUDARE_DATA"):
        rows += local_recoding(Path(os.environ["SUDARE_DATA"]), repeats, full=size == "full")
    return rows + microaggregation(size == "full", repeats)


def mondrian(records: int, repeats: int) -> dict[str, Any]:
    draft = draft_of(people(records))
    seconds, release = best(lambda: Mondrian(k=5).apply(draft, KEY), repeats)
    goal = "about 1 s" if records == 1_000_000 else ""
    return row("mondrian k=5, 6 columns", records, seconds, ncp=release.details["ncp"], goal=goal)


def anonypy(records: int, repeats: int) -> dict[str, Any]:
    """Against anonypy, at a size it finishes in seconds: its time grows much faster than ours."""
    import anonypy as peer

    table = people(records)
    draft = draft_of(table)
    seconds, _ = best(lambda: Mondrian(k=5).apply(draft, KEY), repeats)
    frame = table.to_pandas().assign(salary="x")
    begin = time.process_time()
    peer.Preserver(frame, list(WIDTHS), "salary").anonymize_k_anonymity(k=5)
    theirs = time.process_time() - begin
    return row(
        "mondrian k=5, 6 columns", records, seconds, peer="anonypy", peer_seconds=theirs, goal="<= 0.002"
    )


def local_recoding(data: Path, repeats: int, *, full: bool) -> list[dict[str, Any]]:
    quasi = sorted(file.stem for file in (data / "adult_arx_hierarchies").glob("*.csv"))
    ds = sudare.open(data / "adult_arx.parquet", quasi=quasi, sensitive="salary-class")
    draft = Draft.of(ds, KEY) if full else Draft.of(ds, KEY).take(np.arange(1_000))
    rows = []
    for k, (loss, limit) in ARX.items():
        method = LocalRecoding(k=k, hierarchies=str(data / "adult_arx_hierarchies"))
        seconds, release = best(lambda method=method: method.apply(draft, KEY), repeats)
        limits = {
            "peer": "ARX (measured apart)",
            "peer_seconds": limit,
            "peer_ncp": loss,
            "goal": "lower NCP, no slower",
        }
        name = f"local recoding k={k}, adult, 8 columns"
        rows.append(row(name, draft.rows, seconds, ncp=release.details["ncp"], **(limits if full else {})))
        seconds, release = best(lambda k=k: LocalRecoding(k=k).apply(draft, KEY), repeats)
        name = f"local recoding k={k}, intervals and sets"
        rows.append(row(name, draft.rows, seconds, ncp=release.details["ncp"], goal="lower NCP still"))
    return rows


def microaggregation(full: bool, repeats: int) -> list[dict[str, Any]]:
    rows = []
    for records in (10_000, 40_000) if full else (300, 600):
        draft = numbers(records)
        seconds, exact = best(lambda draft=draft: Microaggregate(k=3).apply(draft, KEY), repeats)
        limit = {"peer": "sdcMicro (measured apart)", "peer_seconds": SDCMICRO_MDAV, "goal": "<= 1"}
        lost = exact.details["information_loss"]
        rows.append(
            row("mdav k=3, 5 columns", records, seconds, loss=lost, **(limit if records == 10_000 else {}))
        )
        method = Microaggregate(k=3, variant="tree")
        seconds, tree = best(lambda draft=draft, method=method: method.apply(draft, KEY), repeats)
        extra = tree.details["information_loss"] / lost - 1
        rows.append(
            row("mdav by tree k=3, 5 columns", records, seconds, loss=lost * (1 + extra), extra_loss=extra)
        )
    if full:
        draft = numbers(1_000_000)
        seconds, tree = best(lambda: Microaggregate(k=3, variant="tree").apply(draft, KEY), 1)
        lost = tree.details["information_loss"]
        rows.append(row("mdav by tree k=3, 5 columns", 1_000_000, seconds, loss=lost, goal="< 10 s"))
    return rows


def people(records: int) -> pa.Table:
    rng = np.random.default_rng(0)
    return pa.table({name: rng.integers(0, width, records) for name, width in WIDTHS.items()})


def numbers(records: int) -> Draft:
    rng = np.random.default_rng(0)
    table = pa.table({f"x{c}": rng.normal(size=records) for c in range(5)})
    return Draft.of(
        Dataset.from_arrow(table, Roles(sensitive=tuple(table.column_names)), name="numbers"), KEY
    )


def draft_of(table: pa.Table) -> Draft:
    return Draft.of(Dataset.from_arrow(table, Roles(quasi=tuple(table.column_names)), name="people"), KEY)


def growth(points: list[tuple[int, float]]) -> float:
    """The exponent of a power law through the points."""
    sizes, seconds = np.log(np.array([(n, max(s, 1e-4)) for n, s in points])).T
    return round(float(np.polyfit(sizes, seconds, 1)[0]), 2)


def best(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The smallest CPU time of some runs, after one to warm up, and what the last one gave."""
    result = work()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        result = work()
        times.append(time.process_time() - begin)
    return min(times), result


def row(work: str, records: int, seconds: float, **more: Any) -> dict[str, Any]:
    out = {"work": work, "records": records, "seconds": round(seconds, 4)}
    out |= {name: round(value, 5) if isinstance(value, float) else value for name, value in more.items()}
    if "peer_seconds" in more:
        out["ratio"] = round(seconds / more["peer_seconds"], 4)
    return out


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-peer", action="store_true")
    given = parser.parse_args()
    for line in run(given.size, given.repeats, peer=not given.no_peer):
        print(json.dumps(line))
