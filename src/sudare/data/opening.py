"""`sudare.open`: any table, from a CSV file to a table on Spark, becomes a Dataset."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sudare.data.connection import connect, fresh_name, quote
from sudare.data.dataset import Dataset
from sudare.data.files import SIDECAR
from sudare.data.readers import databases
from sudare.data.readers.expected import Expected
from sudare.data.readers.files import files_of, open_file
from sudare.data.readers.missing import with_nulls
from sudare.data.roles import Roles, missing_codes
from sudare.data.values import sets
from sudare.errors import DataError, UsageError
from sudare.parameters import checked


@checked
def open(
    source: Any,
    *,
    user: str | None = None,
    record: str | Iterable[str] = (),
    identifier: str | Iterable[str] = (),
    quasi: str | Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    other: str | Iterable[str] = (),
    roles: str | os.PathLike[str] | Roles | None = None,
    missing: str | Iterable[str] | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    table: str | None = None,
    engine: str | None = None,
    partitions: bool = False,
) -> Dataset:
    """Open a table about people and say what its columns are.

    `source` is a path or a glob (.csv .tsv .parquet .arrow .xlsx), `example:NAME` or the name of a public data
    set, a database URL (`table` names the table), or a table in memory: pandas, polars, pyarrow, ibis, Spark.
    `roles` is a `sudare.toml`; names given here come on top of it. `record` tells apart the records of one person (an
    invoice line, a visit number), so that each keeps its draws in every release; such a column is not published unless
    it has another role too. `missing` are codes for a value that is not there, such as `?` or `-9`; without it those
    that the file's `[roles]` name (`missing = ["?", "-9"]`) are used. With `partitions` the folders of Parquet files
    (`zip=10115/part.parquet`) are columns too.

    >>> import sudare
    >>> sudare.open("example:purchases", user="user")
    Dataset(example:purchases: 10 records x 6 columns; user=user; engine duckdb)
    """
    published = _sidecar(source)
    base = roles if isinstance(roles, Roles) else Roles.from_toml(roles) if roles else _roles_of(published)
    merged = _merge(base, Roles.of(user, identifier, quasi, sensitive, other, record))
    texts = sets.columns_of(published)
    labels = (*(c for c in (merged.user, *merged.identifier) if c), *texts)
    codes = _codes(roles) if missing is None else (missing,) if isinstance(missing, str) else tuple(missing)
    expected = Expected(labels, merged.assigned, codes, partitions)
    opened = _open_any(source, expected, encoding=encoding, sheet=sheet, table=table, engine=engine)
    opened = with_nulls(opened, codes)
    merged.check(opened.columns)
    opened = replace(_with_lists(opened, texts), roles=merged, published=published, files=files_of(source))
    _check_users(opened)
    return replace(opened, missing=codes)


def _codes(roles: str | os.PathLike[str] | Roles | None) -> tuple[str, ...]:
    """The codes of missing values that a roles file names."""
    return () if roles is None or isinstance(roles, Roles) else missing_codes(roles)


def _with_lists(opened: Dataset, names: Sequence[str]) -> Dataset:
    """The same table with the sets that a release in a text format holds as `a|b|c` made lists again."""
    if not names or opened.view is None:
        return opened
    import pyarrow as pa

    texts = {f.name for f in opened.schema if f.name in names and pa.types.is_string(f.type)}
    if not texts:
        return opened
    changed = (f"{sets.list_of_text(quote(c))} AS {quote(c)}" for c in texts)
    query = f"SELECT * REPLACE ({', '.join(changed)}) FROM {opened.view}"
    if opened.memory is not None:
        return Dataset.from_arrow(connect().sql(query).to_arrow_table(), name=opened.name)
    view = fresh_name()
    connect().execute(f"CREATE VIEW {view} AS {query}")
    return replace(opened, view=view, parquet=())


def _sidecar(source: Any) -> dict[str, Any]:
    """What a release says of itself, in the file beside it; empty for any other table."""
    if not isinstance(source, (str, os.PathLike)):
        return {}
    path = Path(os.fspath(source) + SIDECAR)
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
        schema = found.get("schema", {})
        readable = isinstance(schema, dict) and all(isinstance(form, dict) for form in schema.values())
    except (OSError, ValueError, AttributeError, RecursionError):
        readable = False
    if not readable:
        raise DataError(f"{path}: cannot be read; get the file again with the release")
    return dict(found)


def _roles_of(published: Mapping[str, Any]) -> Roles:
    roles = published.get("roles", {})
    try:
        return Roles.of(**roles)
    except (TypeError, UsageError):
        raise DataError("the roles beside the release are not readable; get its file again") from None


def _merge(base: Roles, given: Roles) -> Roles:
    """Names given in the call win over the file."""
    rest = base.without(c for c in given.assigned if c not in given.records_only)
    return Roles.of(
        record=given.record or base.record,
        user=given.user or rest.user,
        identifier=(*rest.identifier, *given.identifier),
        quasi=(*rest.quasi, *given.quasi),
        sensitive=(*rest.sensitive, *given.sensitive),
        other=(*rest.other, *given.other),
    )


def _open_any(
    source: Any, expected: Expected, *, table: str | None, engine: str | None, **options: Any
) -> Dataset:
    on_spark = engine is not None and engine != "duckdb"
    if on_spark:
        databases.check_engine(str(engine))
    if not isinstance(source, (str, os.PathLike)):
        if on_spark:
            raise UsageError(f"engine '{engine}' opens files; this table stays where it is")
        return _open_table(source)
    text = os.fspath(source)
    if "://" in text and not (on_spark and databases.is_file_system(text)):
        if on_spark:
            raise UsageError(f"engine '{engine}' opens files; this table stays where it is")
        return databases.open_url(text, table)
    return (
        _open_on_spark(text, str(engine), expected, **options)
        if on_spark
        else open_file(text, expected, **options)
    )


def _open_on_spark(
    source: str, engine: str, expected: Expected, *, encoding: str | None, sheet: str | None
) -> Dataset:
    """A file, an example or a public data set, opened by Spark."""
    from sudare.examples import builtin as examples
    from sudare.examples import catalog

    if encoding is not None or sheet is not None:
        raise UsageError(
            "Spark reads Parquet and UTF-8 text; use --encoding and --sheet with --engine duckdb"
        )
    if source.startswith("example:"):
        return databases.send_to_spark(examples.load(source), engine, source)
    if source in catalog.NAMES and not Path(source).exists():
        source = str(catalog.find(source))
    return databases.open_on_spark(source, engine, expected)


def _open_table(source: Any) -> Dataset:
    from sudare.data.readers.arrow import open_memory

    module = type(source).__module__.partition(".")[0]
    if module == "ibis" and hasattr(source, "columns"):
        return databases.open_ibis(source)
    if module == "pyspark" and hasattr(source, "columns"):
        return databases.open_spark_frame(source)
    opened = open_memory(source)
    if opened is None:
        kind = type(source).__name__
        raise UsageError(
            f"cannot open a {kind}; give a path, a URL or a pandas, polars, pyarrow, ibis or Spark table"
        )
    return opened


def _check_users(dataset: Dataset) -> None:
    """Nobody can be protected who has no name: a null user id is an error with the count."""
    user = dataset.roles.user
    if user is None:
        return
    if dataset.view is None:
        missing = int(dataset.table[user].isnull().sum().to_pyarrow().as_py() or 0)
    else:
        query = f"SELECT count(*) FROM {quote(dataset.view)} WHERE {quote(user)} IS NULL"
        missing = int(connect().sql(query).fetchall()[0][0])
    if missing:
        raise DataError(
            f"{dataset.name}: {missing:,} records have no user in column '{user}'; remove them or fill them in"
        )
