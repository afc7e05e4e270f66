"""The same scenario on every engine: `place` puts a table where the engine keeps its tables."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sudare
from servers import PASSWORD
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles

Place = Callable[..., Dataset]
_names = itertools.count(1)
POSTGRES_TYPES = {
    "string": "text",
    "large_string": "text",
    "int64": "bigint",
    "int32": "integer",
    "double": "double precision",
}
POSTGRES_TYPES |= {"date32[day]": "date", "timestamp[us]": "timestamp", "bool": "boolean"}


@pytest.fixture(scope="session")
def on_duckdb() -> Place:
    def place(table: pa.Table, **roles: Any) -> Dataset:
        return Dataset.from_arrow(table, Roles.of(**roles))

    return place


@pytest.fixture(scope="session")
def on_spark(request: pytest.FixtureRequest) -> Place:
    session = request.getfixturevalue("spark")

    def place(table: pa.Table, **roles: Any) -> Dataset:
        return sudare.open(session.createDataFrame(table), **roles)

    return place


@pytest.fixture(scope="session")
def on_postgres(request: pytest.FixtureRequest) -> Iterator[Place]:
    server = request.getfixturevalue("postgres_server")
    patch = pytest.MonkeyPatch()

    def place(table: pa.Table, **roles: Any) -> Dataset:
        name = f"t{next(_names)}"
        quoted = ['"' + n.replace('"', '""') + '"' for n in table.column_names]
        columns = ", ".join(f"{n} {POSTGRES_TYPES[str(f.type)]}" for n, f in zip(quoted, table.schema))
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {name} ({columns})")
            with cursor.copy(f"COPY {name} FROM STDIN") as copy:
                for row in zip(*(column.to_pylist() for column in table.columns)):
                    copy.write_row(row)
        patch.setenv("PGPASSWORD", PASSWORD)
        return sudare.open(server.url, table=name, **roles)

    yield place
    patch.undo()


@pytest.fixture(
    params=[
        pytest.param("spark", marks=pytest.mark.spark),
        pytest.param("postgres", marks=pytest.mark.postgres),
    ]
)
def engine(request: pytest.FixtureRequest) -> Place:
    """An engine whose results must equal DuckDB's."""
    place: Place = request.getfixturevalue(f"on_{request.param}")
    return place


@pytest.fixture(scope="session")
def purchases() -> pa.Table:
    """Invented purchases with everything that is easily lost on the way: nulls, large ids, empty and odd texts."""
    draw, rows = np.random.default_rng(3), 3000
    users = 2**60 + draw.zipf(1.5, rows) % 211
    day = draw.integers(0, 40, rows)
    goods = draw.zipf(1.3, rows) % 300
    shop = [
        None if n % 7 == 0 else "" if n % 11 == 0 else f"店 {n % 5}'\"" for n in draw.integers(0, 1000, rows)
    ]
    price = np.round(draw.lognormal(3, 1, rows), 2)
    return pa.table(
        {
            "customer": pa.array(users, pa.int64()),
            "day": pa.array(day.astype(np.int32), pa.int32()).cast(pa.date32()),
            "goods": pa.array(goods, pa.int64(), mask=draw.random(rows) < 0.02),
            "count": pa.array(draw.integers(1, 9, rows).astype(np.int32), mask=draw.random(rows) < 0.02),
            "shop": pa.array(shop, pa.string()),
            "price": pa.array(price, mask=draw.random(rows) < 0.02),
        }
    )


def differences(found: Any, expected: Any, where: str = "") -> list[str]:
    """Where two results differ: whole numbers and texts must be equal, floats to 1e-12 of their size."""
    if isinstance(expected, dict) and isinstance(found, dict) and found.keys() == expected.keys():
        return [
            text for name in expected for text in differences(found[name], expected[name], f"{where}.{name}")
        ]
    if (
        isinstance(expected, (list, tuple))
        and isinstance(found, (list, tuple))
        and len(found) == len(expected)
    ):
        return [
            text
            for i, pair in enumerate(zip(found, expected))
            for text in differences(*pair, f"{where}[{i}]")
        ]
    if isinstance(expected, float) and isinstance(found, float):
        return (
            []
            if found == pytest.approx(expected, rel=1e-12, nan_ok=True)
            else [f"{where}: {found} for {expected}"]
        )
    return [] if found == expected else [f"{where}: {found!r} for {expected!r}"]


@pytest.fixture(scope="session")
def same() -> Callable[[Any, Any], None]:
    """Results must be equal."""

    def check(found: Any, expected: Any) -> None:
        assert differences(found, expected) == []

    return check
