"""P4, Figures 1-4: what EUC1 costs and gains with the number of quasi-identifiers |q| and of amounts |s|."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import sudare
from sudare.attacks import Euclid
from sudare.data.dataset import Dataset
from sudare.data.release import Release
from sudare.engine.codes import classes, codes
from sudare.methods import Noise
from sudare.reproduction.item import Item, Row
from sudare.reproduction.p4_single import KEY
from sudare.reproduction.pictures import compared, rates

FIXED = (0, 3, 6, 13)  # |q| of the lines of Figure 4


def items(ds: Dataset) -> list[Item]:
    release = sudare.anonymize(ds, Noise(sd=0.1), key=KEY)
    quasi, amounts = ds.roles.quasi, ds.roles.sensitive
    pairs = [_pairs(ds, quasi[:q]) for q in range(len(quasi) + 1)]
    by_q = _rates(ds, release, [(quasi[:q], amounts[:s]) for s in (1, 4, 12) for q in range(len(quasi) + 1)])
    by_s = _rates(ds, release, [(quasi[:q], amounts[:s]) for q in FIXED for s in range(1, len(amounts) + 1)])
    return [_cost(pairs, len(amounts)), _gain(by_q, by_s)]


def _cost(pairs: Sequence[int], amounts: int) -> Item:
    by_q = [{"q": q, "pairs": n} for q, n in enumerate(pairs)]
    by_s = [
        {"s": s, "differences": s * pairs[q], "series": f"|q| = {q}"}
        for q in FIXED
        for s in range(1, amounts + 1)
    ]
    rows = tuple(
        Row(f"|q| = {q}: pairs of rows compared", "curve", f"{pairs[q]:,}", "data not public")
        for q in (0, 1, 3, 6, 9, 13)
    )
    text = (
        "The paper shows seconds of its R program, which fall with |q| and grow with |s|. What makes them so is "
        "counted here instead: the pairs of rows with equal quasi-identifiers, each with |s| differences. "
        "sudare searches a tree and needs far fewer."
    )
    drawn = (
        (
            "fig-1",
            compared(by_q, "q", "quasi-identifiers |q|", "pairs", "pairs of rows", "Work of EUC1 by |q|"),
        ),
        ("fig-3", compared(by_s, "s", "amounts |s|", "differences", "differences", "Work of EUC1 by |s|")),
    )
    return Item("Figures 1, 3", text, rows, drawn)


def _gain(by_q: Sequence[dict[str, float]], by_s: Sequence[dict[str, float]]) -> Item:
    whole = [r for r in by_q if r["s"] == 12]
    rows = tuple(
        Row(f"|q| = {r['q']}, |s| = 12: re-identified", "curve", f"{r['rate']:.3f}", "data not public")
        for r in whole
        if r["q"] in (0, 1, 3, 6, 9, 13)
    )
    text = (
        "On fies_8333 with noise of a tenth of the standard deviation. The rate grows with |q|, as printed, and with "
        "|s|; with 13 quasi-identifiers one amount is enough."
    )
    label_q = [{**r, "series": f"|s| = {r['s']}"} for r in by_q]
    label_s = [{**r, "series": f"|q| = {r['q']}"} for r in by_s]
    drawn = (
        ("fig-2", rates(label_q, "q", "quasi-identifiers |q|", "series", "EUC1 by |q|")),
        ("fig-4", rates(label_s, "s", "amounts |s|", "series", "EUC1 by |s|")),
    )
    return Item("Figures 2, 4", text, rows, drawn)


def _rates(
    ds: Dataset, release: Release, settings: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]
) -> list[dict[str, float]]:
    chosen = [Euclid(quasi=quasi, columns=amounts) for quasi, amounts in settings]
    found = sudare.attack(ds, release, chosen).rows
    return [{"q": len(q), "s": len(s), "rate": row["rate"]} for (q, s), row in zip(settings, found)]


def _pairs(ds: Dataset, quasi: Sequence[str]) -> int:
    """Noise leaves quasi-identifiers alone: equal rows meet in pairs as often as classes squared."""
    if not quasi:
        return ds.rows**2
    sizes = classes(codes(ds.to_pyarrow(list(quasi)), list(quasi))[0])[1]
    return int((np.asarray(sizes, np.int64) ** 2).sum())
