"""Tables that stay where they are: a DuckDB file, an ibis table on DuckDB. Spark and Postgres have their own tests."""

from __future__ import annotations

from pathlib import Path

import duckdb
import ibis
import pyarrow as pa
import pytest

import sudare
from sudare.errors import DataError, UsageError
from sudare.methods import Round


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT 'u' || i % 7 AS who, i % 3 AS place FROM range(50) t(i)"
        )
        connection.execute("CREATE SCHEMA old; CREATE TABLE old.visits AS SELECT 1 AS a")
        connection.execute(
            "CREATE TYPE size AS ENUM ('S', 'L'); CREATE TABLE clothes AS SELECT 'S'::size AS size"
        )
        connection.execute("CREATE VIEW few AS FROM visits LIMIT 5")
    return path


def test_a_table_of_a_duckdb_file_is_measured_and_published(database: Path) -> None:
    ds = sudare.open(f"duckdb://{database}", table="visits", user="who", quasi="place")
    assert (ds.rows, ds.users, ds.engine) == (50, 7, "duckdb")
    assert sudare.risk(ds).rows[0]["values"] == 3
    release = sudare.anonymize(ds, Round(column="place", to=2), key=bytes(range(32)))
    assert release.data.rows == 50


def test_schemas_and_enumerations_are_read_and_views_refused(database: Path) -> None:
    with pytest.raises(DataError, match="'few' is a view"):
        sudare.open(f"duckdb://{database}", table="few")
    assert sudare.open(f"duckdb://{database}", table="old.visits").columns == ("a",)
    clothes = sudare.open(f"duckdb://{database}", table="clothes", quasi="size")
    assert clothes.to_pyarrow().to_pydict() == {"size": ["S"]}
    assert clothes.schema.field("size").type == pa.string()


def test_the_file_is_not_written_to(database: Path) -> None:
    before = database.read_bytes()
    sudare.risk(sudare.open(f"duckdb://{database}", table="visits", user="who"))
    assert database.read_bytes() == before


def test_wrong_databases_and_tables_are_explained(database: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'visits'"):
        sudare.open(f"duckdb://{database}", table="visit")
    with pytest.raises(UsageError, match="--table"):
        sudare.open(f"duckdb://{database}")
    with pytest.raises(DataError, match="no such database file"):
        sudare.open(f"duckdb://{tmp_path}/none.duckdb", table="t")
    (tmp_path / "wrong.duckdb").write_text("hello")
    with pytest.raises(DataError, match="not a DuckDB database"):
        sudare.open(f"duckdb://{tmp_path}/wrong.duckdb", table="t")
    with pytest.raises(UsageError, match="port"):
        sudare.open("postgres://127.0.0.1:port/name", table="t")
    with pytest.raises(UsageError, match="unknown kind of database"):
        sudare.open("oracle://127.0.0.1/name", table="t")


def test_an_ibis_table_on_duckdb_streams_and_stays_usable() -> None:
    ds = sudare.open(ibis.memtable(pa.table({"who": ["a", "b", "b"], "x": [1, 1, 2]})), user="who")
    assert [batch.num_rows for batch in ds.batches(rows=2)] == [2, 1]
    assert sudare.risk(ds).rows[0]["users"] == 2


def test_an_engine_that_is_none_or_does_not_fit_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown engine"):
        sudare.open("example:purchases", engine="oracle")
    with pytest.raises(UsageError, match="opens files"):
        sudare.open(pa.table({"a": [1]}), engine="local[1]")
    with pytest.raises(UsageError, match="cannot open a IntegerColumn"):
        sudare.open(ibis.memtable(pa.table({"a": [1]})).a)
