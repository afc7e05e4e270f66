"""P4's example of four rows: Tables 2-4, 10, 11, number by number. It needs no data."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import sudare
from sudare import attacks
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.errors import SudareWarning
from sudare.keys import Key
from sudare.methods import Average
from sudare.reproduction.item import Item, Row, must_equal

ROLES = Roles.of(quasi=["QI1", "QI2", "QI3"], sensitive=["SA1", "SA2"])
X = ([100, 200, 300, 400], [100, 400, 200, 500])
B = ([110, 220, 280, 390], [90, 390, 210, 520])
G = ([200, 100, 300, 400], [100, 400, 500, 200])


def table(sa: tuple[list[int], list[int]], qi3: Sequence[int] = (1, 1, 2, 2)) -> Dataset:
    """Four rows with the quasi-identifiers of Table 2."""
    import pyarrow as pa

    columns = {"QI1": [2, 2, 1, 1], "QI2": [1, 1, 1, 1], "QI3": list(qi3), "SA1": sa[0], "SA2": sa[1]}
    return Dataset.from_arrow(pa.table(columns), ROLES)


def rates(release: Dataset, chosen: Sequence[Any], truth: Sequence[int] = (0, 1, 2, 3)) -> list[float]:
    """Re-identification rates on a release of Table 2."""
    with warnings.catch_warnings():  # the example is not shuffled
        warnings.simplefilter("ignore", SudareWarning)
        return [float(row["rate"]) for row in sudare.attack(table(X), release, chosen, truth=truth).rows]


def items() -> list[Item]:
    return [_tables_2_and_3(), _table_4(), _table_10(), _table_11()]


def giving_up() -> tuple[float, float]:
    """EUC1 on Table 4 with the printed guess of row i: as it stands, and with the rows shuffled."""
    shuffled = Dataset.from_arrow(table(X, (1, 1, 1, 1)).to_pyarrow().take([3, 0, 1, 2]), ROLES)
    guess = [attacks.Euclid(paper=True)]
    return rates(table(X, (1, 1, 1, 1)), guess)[0], rates(shuffled, guess, [3, 0, 1, 2])[0]


def sorting() -> tuple[float, float]:
    """E3 on Table 10, where sums tie in pairs: by a stable sort of the file as it stands, and by expectation."""
    averaged = table(([150, 150, 350, 350], [250, 250, 350, 350]))
    sums = ([x + y for x, y in zip(*X)], [400, 400, 700, 700])
    original, release = (sorted(range(4), key=each.__getitem__) for each in sums)  # a stable sort, as in R
    stable = sum(a == b for a, b in zip(original, release)) / 4
    return stable, rates(averaged, [attacks.IdentifySort()])[0]


def _tables_2_and_3() -> Item:
    sums = [x + y for x, y in zip(*X)]
    order = sorted(range(4), key=lambda i: sums[i])
    e1, e2, e3, e4, euc1 = rates(
        table(B),
        [
            attacks.IdentifyRand(),
            attacks.IdentifySa(),
            attacks.IdentifySort(),
            attacks.IdentifySa21(),
            attacks.Euclid(),
        ],
    )
    rows = (
        must_equal("D(a1, b1)", "14.142", math.dist((100, 100), (110, 90))),
        must_equal("D(a2, b1)", "322.8", math.dist((200, 400), (110, 90))),
        must_equal(
            "order of X by the sum of its SA (as one number)", "1324", int("".join(str(i + 1) for i in order))
        ),
        must_equal("B: E3 identify-sort", "1.0", e3),
        must_equal("B: E1 identify-rand, one of two rows", "0.5", e1),
        must_equal("B: E2 identify-sa", "1", e2),
        must_equal("B: E4 identify-sa21", "1", e4),
        must_equal("B: EUC1", "1", euc1),
    )
    text = (
        "The distances, the order and every attack on the noisy table B come out as the text works them out."
    )
    return Item("Tables 2, 3", text, rows)


def _table_4() -> Item:
    d = table(X, (1, 1, 1, 1))
    euc1, euc2 = rates(d, [attacks.Euclid(), attacks.Euclid(fallback=True)])
    as_is, shuffled = giving_up()
    rows = (
        must_equal("D: EUC1, guessing row i where it gives up", "1", as_is),
        Row("D: EUC1, giving up is a miss", "1", f"{euc1:g}", "paper errs"),
        Row("D, rows shuffled: EUC1 guessing row i", "1", f"{shuffled:g}", "paper errs"),
        must_equal("D: EUC2", "1", euc2),
    )
    text = (
        "Where no row has equal quasi-identifiers, the printed EUC1 guesses the row with the same number: a free hit "
        "on a file in its original order. Counting it as a miss gives one half; so does shuffling the file."
    )
    return Item("Table 4, Examples 1, 2", text, rows)


def _table_10() -> Item:
    released = sudare.anonymize(table(X), Average(), key=Key.demo(4)).data.to_pyarrow().to_pylist()
    cells = sorted((r["QI3"], r["SA1"], r["SA2"]) for r in released)
    rows = tuple(
        must_equal(f"F, group {group}: {name}", text, float(cells[2 * (group - 1)][place]))
        for group, texts in ((1, ("150", "250")), (2, ("350", "350")))
        for place, name, text in ((1, "SA1", texts[0]), (2, "SA2", texts[1]))
    )
    return Item("Table 10", "The averages within equal quasi-identifiers come out.", rows)


def _table_11() -> Item:
    found = sudare.utility(table(X), table(G), ["U1", "U2", "U3", "U4", "U5"], truth=[0, 1, 2, 3])
    values = {row["metric"]: float(row["value"]) for row in found.rows}
    rows = (
        must_equal("G: U2, means by group", "0", values["U2"]),
        must_equal("G: U3, counts by group", "0", values["U3"]),
        Row("G: U4, correlations", "decreases", f"differ by {values['U4']:.3f}", "equal"),
        Row("G: U5, rows", "decreases", f"moved by {values['U5']:.3f}", "equal"),
    )
    text = (
        "Swapping within equal quasi-identifiers keeps means and counts of the groups, not the correlations."
    )
    return Item("Table 11", text, rows)
