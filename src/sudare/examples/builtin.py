"""Built-in data: the small tables of the papers and a generator of purchase histories of any size.

`example:purchases`  P1, Table 1: ten purchases of three users
`example:patients`   P2, Table 1: eight patients
`example:contest`    P4, Table 2: four rows, three quasi-identifiers, two sensitive columns
`example:contest-b`, `-d`, `-f`, `-g`   P4, Tables 3, 4, 10, 11: four releases of it
`example:histories`  generated purchase histories of 400 users; `example:histories:5000` of 5,000 users
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sudare.errors import UsageError, nearest
from sudare.parameters import checked

if TYPE_CHECKING:
    import pyarrow as pa

PURCHASES: dict[str, list[Any]] = {
    "user": ["1", "1", "1", "2", "1", "3", "3", "3", "3", "3"],
    "date": ["2010/12/1"] * 4 + ["2010/12/2"] * 3 + ["2010/12/3"] * 3,
    "time": ["8:45", "8:45", "20:10", "10:03", "15:07", "11:57", "11:57", "15:54", "15:54", "15:54"],
    "goods": ["Bread", "Book", "Tea", "Bread", "Tea", "Bread", "Juice", "Book", "Tea", "Juice"],
    "price": [1.45, 3.75, 0.85, 1.45, 0.85, 1.45, 1.25, 3.75, 0.85, 1.45],
    "number": [2, 1, 2, 3, 3, 4, 4, 1, 10, 10],
}
PATIENTS: dict[str, list[Any]] = {
    "name": ["Alex", "Becky", "Carl", "Diana", "Edward", "Flora", "Greg", "Hanna"],
    "sex": ["M", "F"] * 4,
    "age": [41, 41, 50, 51, 68, 69, 72, 77],
    "address": ["13000", "17025", "13021", "14053", "15000", "16022", "13001", "17001"],
    "job": ["Artist", "Artist", "Writer", "Nurse", "Writer", "Nurse", "Artist", "Artist"],
    "disease": ["Fever", "Sty", "Cancer", "HIV", "Chill", "HIV", "Cut", "Cancer"],
}
_QI = {"qi1": [2, 2, 1, 1], "qi2": [1, 1, 1, 1], "qi3": [1, 1, 2, 2]}
CONTEST: dict[str, dict[str, list[Any]]] = {
    "contest": {**_QI, "sa1": [100, 200, 300, 400], "sa2": [100, 400, 200, 500]},
    "contest-b": {**_QI, "sa1": [110, 220, 280, 390], "sa2": [90, 390, 210, 520]},
    "contest-d": {**_QI, "qi3": [1, 1, 1, 1], "sa1": [100, 200, 300, 400], "sa2": [100, 400, 200, 500]},
    "contest-f": {**_QI, "sa1": [150, 150, 350, 350], "sa2": [250, 250, 350, 350]},
    "contest-g": {**_QI, "sa1": [200, 100, 300, 400], "sa2": [100, 400, 500, 200]},
}
NAMES = ("purchases", "patients", *CONTEST, "histories")


def load(source: str) -> pa.Table:
    """The table behind `example:NAME`."""
    import pyarrow as pa

    columns = small(source)
    if columns is not None:
        return pa.table(columns)
    return histories(int(source.removeprefix("example:histories").removeprefix(":") or 400))


@checked
def histories(
    users: int = 400, *, records_per_user: float = 40.0, goods: int = 1500, seed: int = 7
) -> pa.Table:
    """Purchase histories that look like a shop's: a few heavy customers, popular and rare goods, baskets.

    Nobody in it exists. Columns: user, invoice, date, time, goods, price, number.

    >>> histories(50).column_names
    ['user', 'invoice', 'date', 'time', 'goods', 'price', 'number']
    """
    from sudare.examples.histories import generate

    if users < 1 or goods < 1 or records_per_user <= 0 or seed < 0:
        raise UsageError(
            "histories: give at least 1 user, 1 kind of goods, records above 0 and a seed from 0 on"
        )
    return generate(users, records_per_user, goods, seed)


def small(source: str) -> dict[str, list[Any]] | None:
    """The columns of one of the papers' tables; None for histories, which are generated."""
    name, colon, size = source.removeprefix("example:").partition(":")
    if name == "histories":
        if colon and not (size.isdecimal() and int(size) > 0):
            raise UsageError(f"{source}: the number of users is a whole number, e.g. example:histories:5000")
        return None
    tables = {"purchases": PURCHASES, "patients": PATIENTS, **CONTEST}
    if name not in tables:
        raise UsageError(f"unknown example '{name}'; {nearest(name, NAMES)}")
    if colon:
        raise UsageError(f"{source}: only histories have a size, e.g. example:histories:5000")
    return tables[name]
