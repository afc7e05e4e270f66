"""P4, Tables 14-16: the twelve submissions cannot be had; their printed sums can be checked, their recipes tried."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

import sudare
from sudare.attacks import Euclid
from sudare.data.dataset import Dataset
from sudare.data.release import Release
from sudare.errors import SudareWarning
from sudare.methods import Mondrian
from sudare.reproduction.item import Item, Row, agrees, must_equal
from sudare.reproduction.p4_printed import METHODS, SAFETY, TABLE14, TABLE15, TABLE16, UTILITY, column
from sudare.reproduction.p4_single import KEY, RELEASED, Scores, judge, text_of

SIZES = {name: int(text) for name, text in enumerate(column(TABLE14, "S1"), 1)}  # k of D_1 to D_12


def printed() -> Item:
    """The averages of Table 16 from its own columns, and Table 14 from Table 16."""
    rates = {name: np.array(cells.split(), float) for name, (cells, *_) in TABLE16.items()}
    best = np.max(list(rates.values()), axis=0)
    rows = []
    for name, (_, mean, deviation, wins) in TABLE16.items():
        rows.append(must_equal(f"{name}: average", mean, float(rates[name].mean())))
        rows.append(
            must_equal(
                f"{name}: standard deviation, the average counted as a 13th value",
                deviation,
                float(np.append(rates[name], rates[name].mean()).std()),
            )
        )
        rows.append(must_equal(f"{name}: best scores", wins, int((rates[name] == best).sum())))
    same = sum(
        agrees(f"{float(text):.2f}", float(rate))
        for name in TABLE16
        for text, rate in zip(column(TABLE14, name), rates[name])
    )
    rows.append(must_equal("cells of Table 14 that are those of Table 16 with two digits", "60", same))
    text = (
        "Averages and counts of Table 16 follow from its columns, and Table 14 repeats it with two digits. The "
        "printed standard deviations come out only if the average is counted as a thirteenth value; of the twelve "
        "they are larger by a factor of sqrt(13/12)."
    )
    return Item("Tables 14, 16: the printed numbers among themselves", text, tuple(rows))


def submissions(ds: Dataset) -> list[Item]:
    """Each submission's recipe as the authors guess it (Table 15), on fies_8333."""
    found = {number: judge(ds, _stand_in(ds, number)) for number in range(1, 13)}
    return [_table14(found), _table16(ds, found)]


def _table14(found: Mapping[int, Scores]) -> Item:
    measures = (*UTILITY, *SAFETY)
    grid: list[tuple[str, ...]] = [("printed / ours", "recipe (Table 15)", *measures)]
    for number, scores in found.items():
        cells = (f"{column(TABLE14, n)[number - 1]} / {text_of(scores[n])}" for n in measures)
        grid.append((f"D_{number}", _recipe(number), *cells))
    text = (
        "The submissions are not public. What stands in: the methods that the authors recognise in each of them "
        "(Table 15), run on fies_8333 with the printed k. Amounts are in another currency, and the scale of U5 is a "
        "reconstruction: U2 and U5 compare in kind only. U1 and U6 stay zero as printed, and S1 is the printed k. The "
        "contestants moved amounts less than plain swaps do (U4, U5) and made larger classes (S2). The rates of the "
        "attacks are those of Table 16."
    )
    return Item("Table 14", text, grid=tuple(grid))


def _table16(ds: Dataset, found: Mapping[int, Scores]) -> Item:
    grid = [("printed / ours", "recipe (Table 15)", *TABLE16, "EUC2, ours")]
    for number, scores in found.items():
        rates = (f"{TABLE16[n][0].split()[number - 1]} / {text_of(scores[n])}" for n in TABLE16)
        grid.append((f"D_{number}", _recipe(number), *rates, text_of(scores["EUC2"])))
    averages = {n: float(np.mean([s[n] or 0 for s in found.values()])) for n in (*TABLE16, "EUC2")}
    rows = [
        Row(f"average of {n}", TABLE16[n][1] if n in TABLE16 else "", text_of(mean), "data not public")
        for n, mean in averages.items()
    ]
    in_order = text_of(_unshuffled(ds, 7))
    rows.append(Row("D_7 in original order, EUC1 guessing row i", ".876", in_order, "data not public"))
    text = (
        "The same stand-ins. The contestants tuned their files against E1 to E4, ours are plain, so rates differ; "
        "both say that cheating, and k-anonymity with averages, leave hardly anything to find. EUC2, which the authors "
        "left for want of time, finds nearly every row where amounts stay (D_1) or hardly change (D_2). The printed "
        "0.876 of EUC1 on D_7 is more than its recipe can leave: a file in its original order gets such a rate from "
        "the guess of row i where EUC1 gives up (last line)."
    )
    return Item("Tables 15, 16", text, tuple(rows), grid=tuple(grid))


def _stand_in(ds: Dataset, number: int) -> Release:
    steps = [Mondrian(k=SIZES[number]) if m == "a" else RELEASED[m] for m in TABLE15[number - 1]]
    order = sorted(steps, key=lambda step: step is RELEASED["c"])  # identities are permuted last
    return sudare.anonymize(ds, order, key=KEY)


def _unshuffled(ds: Dataset, number: int) -> float:
    """The rate of the printed EUC1 on a stand-in whose rows are in the order of the original."""
    release = _stand_in(ds, number)
    order = np.argsort(np.array(release.truth))
    published = Dataset.from_arrow(release.data.to_pyarrow().take(order), release.data.roles)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SudareWarning)
        found = sudare.attack(ds, published, [Euclid(paper=True)], truth=range(ds.rows))
    return float(found.rows[0]["rate"])


def _recipe(number: int) -> str:
    names = [f"{METHODS[m]}, k = {SIZES[number]}" if m == "a" else METHODS[m] for m in TABLE15[number - 1]]
    return " + ".join(names)
