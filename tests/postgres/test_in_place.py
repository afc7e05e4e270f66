"""A table in Postgres is measured where it lives."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import sudare
from servers import PASSWORD, find_postgres, running_postgres
from sudare.cli.main import run
from sudare.errors import DataError, UsageError

pytestmark = pytest.mark.postgres
ROWS = 5000


@pytest.fixture(scope="module")
def table(postgres_server):
    with postgres_server.connect() as connection:
        connection.execute("CREATE SCHEMA shop")
        connection.execute(
            "CREATE TABLE shop.purchases AS SELECT 'canary-' || (n % 97) AS customer_id, n % 13 AS goods, "
            f"n % 29 AS day FROM generate_series(1, {ROWS}) AS n"
        )
        connection.execute("CREATE TABLE people AS SELECT * FROM shop.purchases")
    return "people"


@pytest.fixture(autouse=True)
def password(monkeypatch):
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


def test_the_command_line_measures_a_table_in_place(postgres_server, table, capsys):
    code = run(["risk", postgres_server.url, "--table", table, "--user", "customer_id", "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert code == 0
    assert {row["users"] for row in found["rows"]} == {97}
    assert {row["records"] for row in found["rows"]} == {ROWS}


def test_only_aggregates_leave_the_database(postgres_server, table, monkeypatch):
    """The server's own log of statements: everything that was asked is a count, a sum or a group."""
    with postgres_server.connect() as connection:
        connection.execute("ALTER SYSTEM SET log_statement = 'all'")
        connection.execute("SELECT pg_reload_conf()")
    log = postgres_server.folder / "log"
    start = log.stat().st_size
    ds = sudare.open(postgres_server.url, table=table, user="customer_id", quasi=["day"], sensitive=["goods"])
    monkeypatch.setenv("SUDARE_FETCH_ROWS", "0")  # fetching the rows themselves would be an error
    sudare.risk(ds, combine=2, across=True)
    sudare.risk(ds, attributes="day", channel={"day": "wrong:0.1"})
    sudare.disclosure(ds)
    sudare.plan(ds, "goods", k=[2], pilot=False)
    asked = log.read_bytes()[start:].decode()
    queries = [part for part in asked.split("LOG:  ") if '"people"' in part and "SELECT" in part]
    assert queries
    assert all(any(word in query for word in ("COUNT(", "SUM(", "GROUP BY", "DISTINCT")) for query in queries)
    with postgres_server.connect() as connection:
        connection.execute("ALTER SYSTEM RESET log_statement")
        connection.execute("SELECT pg_reload_conf()")


def test_what_would_need_the_rows_is_refused_before_it_starts(postgres_server, table):
    ds = sudare.open(postgres_server.url, table=table, user="customer_id")
    with pytest.raises(UsageError, match="only counts leave a database; export the columns to Parquet"):
        sudare.risk(ds, channel={"day": "round:7"})


def test_types_that_only_a_database_has_are_measured_as_text(postgres_server, table):
    with postgres_server.connect() as connection:
        connection.execute(
            "CREATE TABLE odd AS SELECT md5(n::text)::uuid AS who, ('10.0.0.' || n % 5)::inet AS host, "
            """('{"a": ' || n % 3 || '}')::json AS note, n / 3.0 AS third FROM generate_series(1, 30) AS n"""
        )
    ds = sudare.open(postgres_server.url, table="odd")
    values = {r["attributes"][0]: r["values"] for r in sudare.risk(ds).rows}
    assert values == {"who": 30, "host": 5, "note": 3, "third": 30}
    found = sudare.risk(ds, attributes=["who", "host", "note"], model="sample").rows
    assert {row["values"] for row in found} == {30, 5, 3}
    with pytest.raises(DataError, match="make a view that casts it"):
        sudare.risk(ds, attributes=["third"], model="sample")


def test_fetching_a_large_table_is_refused_before_it_starts(postgres_server, table, monkeypatch):
    monkeypatch.setenv("SUDARE_FETCH_ROWS", "1000")
    ds = sudare.open(postgres_server.url, table=table, user="customer_id")
    with pytest.raises(UsageError, match=r"needs all 5,000 rows in one process, more than 1,000"):
        ds.to_pyarrow()


def test_a_table_of_another_schema_and_an_unknown_one(postgres_server, table):
    assert sudare.open(postgres_server.url, table="shop.purchases").rows == ROWS
    with pytest.raises(UsageError, match="did you mean 'people'"):
        sudare.open(postgres_server.url, table="peple")


def test_a_wrong_password_is_an_error_that_does_not_show_it(postgres_server, table, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "wrong-password")
    with pytest.raises(DataError, match="cannot be reached; check host, name and password") as refused:
        sudare.open(postgres_server.url, table=table)
    assert "wrong-password" not in str(refused.value)


def test_the_password_may_come_from_pgpass_and_shows_nowhere(postgres_server, table, tmp_path):
    pgpass = tmp_path / "pgpass"
    pgpass.write_text(f"127.0.0.1:{postgres_server.port}:postgres:sudare:{PASSWORD}\n")
    pgpass.chmod(0o600)
    environment = {"PGPASSFILE": str(pgpass), "PATH": "/usr/bin", "HOME": str(tmp_path)}
    start = "from sudare.cli.main import main; main()"
    table_of = [postgres_server.url, "--table", table, "--user", "customer_id"]
    command = [sys.executable, "-c", start, "risk", *table_of]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    assert "canary" not in done.stdout + done.stderr


@pytest.mark.fault(47, "the database goes away: exit code 3")
def test_a_database_that_goes_away_is_an_error_of_two_lines_at_most(postgres_server):
    with running_postgres(find_postgres()) as server:
        with server.connect() as connection:
            connection.execute(
                "CREATE TABLE t AS SELECT n % 7 AS who, n % 5 AS what FROM generate_series(1, 100) AS n"
            )
        ds = sudare.open(server.url, table="t", user="who")
        server.stop()
        with pytest.raises(DataError, match="the database did not answer") as gone:
            sudare.risk(ds)
    assert gone.value.exit_code == 3
    assert len(str(gone.value).splitlines()) == 1
