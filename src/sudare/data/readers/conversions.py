"""From a publisher's files to a table: the columns, types and rows that the published numbers come from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

Files = Mapping[str, Path]
ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
    "capital-loss hours-per-week native-country income"
).split()
RETAIL = "InvoiceNo StockCode Description Quantity InvoiceDate UnitPrice CustomerID Country".split()
CUSTOMERS = 400


def adult(files: Files) -> pa.Table:
    """Both splits; the test split has a line of its own first and a point after every income."""
    import pyarrow as pa

    parts = []
    for split in ("data", "test"):
        text = (
            files[f"adult.{split}"]
            .read_text("ascii")
            .replace("|1x3 Cross validator\n", "")
            .replace(".\n", "\n")
        )
        table = _table(text.rstrip("\n").replace(", ", ","), ",", ADULT)
        parts.append(table.append_column("split", pa.array([split] * table.num_rows, pa.string())))
    return pa.concat_tables(parts)


def diabetes(files: Files) -> pa.Table:
    return _table(files["diabetic_data.csv"].read_text("ascii"), ",")


def adult_arx(files: Files) -> pa.Table:
    return _table(files["adult.csv"].read_text("ascii"), ";")


def online_retail(files: Files) -> pa.Table:
    """Codes are text, also those that Excel took for numbers; descriptions without outer blanks."""
    import pyarrow as pa

    rows = _sheet(files["Online Retail.xlsx"])
    columns: dict[str, list[Any]] = dict(zip(RETAIL, map(list, zip(*rows))))
    for name in ("InvoiceNo", "StockCode", "Description", "Country"):
        columns[name] = [None if cell is None else str(cell).strip() for cell in columns[name]]
    moments = [moment.replace(microsecond=0) for moment in columns["InvoiceDate"]]
    return pa.table(
        {
            **columns,
            "InvoiceDate": pa.array(moments, pa.timestamp("us")),
            "UnitPrice": pa.array(map(float, columns["UnitPrice"]), pa.float64()),
        }
    )


def retail400(files: Files) -> pa.Table:
    return of_400_customers(online_retail(files))


def of_400_customers(all_rows: pa.Table) -> pa.Table:
    """The purchases of the 400 smallest customer numbers: bought, paid for, and from a known country."""
    import pyarrow as pa
    import pyarrow.compute as pc

    bought = pc.and_(pc.greater(all_rows["Quantity"], 0), pc.greater(all_rows["UnitPrice"], 0))
    known = pc.and_(pc.is_valid(all_rows["CustomerID"]), pc.not_equal(all_rows["Country"], "Unspecified"))
    rows = all_rows.filter(pc.and_(bought, known))
    customers = sorted(set(rows["CustomerID"].to_pylist()))[:CUSTOMERS]
    rows = rows.filter(pc.is_in(rows["CustomerID"], pa.array(customers)))
    moments = rows["InvoiceDate"].to_pylist()
    return pa.table(
        {
            "user_id": rows["CustomerID"],
            "invoice": rows["InvoiceNo"],
            "date": [f"{m.year}/{m.month}/{m.day}" for m in moments],
            "time": [f"{m.hour}:{m.minute:02}" for m in moments],
            "goods": rows["StockCode"],
            "price": rows["UnitPrice"],
            "number": rows["Quantity"],
        }
    )


def _table(text: str, delimiter: str, names: list[str] | None = None) -> pa.Table:
    """A text table without quotes; a column is whole numbers if all its cells are; ? stays ?."""
    import pyarrow as pa

    lines = text.splitlines()
    header = names or lines.pop(0).split(delimiter)
    columns = list(zip(*(line.split(delimiter) for line in lines)))
    if len(columns) != len(header):
        raise DataError("the publisher's file has other columns than it had; it has changed")
    return pa.table([_column(cells) for cells in columns], names=header)


def _column(cells: tuple[str, ...]) -> pa.Array:
    import pyarrow as pa

    whole = all(cell.isdecimal() for cell in cells)
    return pa.array(map(int, cells), pa.int64()) if whole else pa.array(cells, pa.string())


def _sheet(path: Path) -> list[tuple[Any, ...]]:
    """The rows below the header of the only sheet."""
    from sudare.data.readers.excel import load

    workbook = load(path)
    try:
        rows = workbook[workbook.sheetnames[0]].iter_rows(values_only=True, max_col=len(RETAIL))
        if list(next(rows, ())) != RETAIL:
            raise DataError("the publisher's workbook has other columns than it had; it has changed")
        return list(rows)
    finally:
        workbook.close()
