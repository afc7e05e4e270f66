"""`sudare.open`: any table, from a CSV file to a table on Spark, becomes a Dataset."""

from __future__ import annotations

import glob
import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.data import databases
from sudare.data.connection import connect, fresh_name, literal, quote
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.errors import DataError, UsageError, warn

if TYPE_CHECKING:
    import pyarrow as pa

SIDECAR = ".sudare.json"
FORMATS = ".csv .tsv .txt (also .gz, .zip), .parquet, .arrow .feather .ipc, .xlsx"


def open(
    source: Any,
    *,
    user: str | None = None,
    identifier: str | Iterable[str] = (),
    quasi: str | Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    other: str | Iterable[str] = (),
    roles: str | os.PathLike[str] | Roles | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    table: str | None = None,
    engine: str | None = None,
) -> Dataset:
    """Open a table about people and say what its columns are.

    `source` is a path or a glob (.csv .tsv .parquet .arrow .xlsx), `example:NAME` or the name of a public data
    set, a database URL (`table` names the table), or a table in memory: pandas, polars, pyarrow, ibis, Spark.
    `roles` is a `sudare.toml`; names given here come on top of it.

    >>> import sudare
    >>> sudare.open("example:purchases", user="user")
    Dataset(example:purchases: 10 records x 6 columns; user=user; engine duckdb)
    """
    published = _sidecar(source)
    base = roles if isinstance(roles, Roles) else Roles.from_toml(roles) if roles else _roles_of(published)
    merged = _merge(base, Roles.of(user, identifier, quasi, sensitive, other))
    labels = [c for c in (merged.user, *merged.identifier) if c]
    opened = _open_any(source, labels, encoding=encoding, sheet=sheet, table=table, engine=engine)
    merged.check(opened.columns)
    opened = replace(opened, roles=merged, published=published, files=_files(source))
    _check_users(opened)
    return opened


def _files(source: Any) -> tuple[str, ...]:
    """The files behind a path or a glob, as absolute paths; none for anything else."""
    if not isinstance(source, (str, os.PathLike)) or "://" in os.fspath(source):
        return ()
    text = os.fspath(source)
    found = [text] if os.path.lexists(text) else glob.glob(text, recursive=True)
    return tuple(os.path.abspath(path) for path in found)


def _sidecar(source: Any) -> dict[str, Any]:
    """What a release says of itself, in the file beside it; empty for any other table."""
    if not isinstance(source, (str, os.PathLike)):
        return {}
    path = Path(os.fspath(source) + SIDECAR)
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        raise DataError(f"{path}: cannot be read; get the file again with the release") from None
    return found if isinstance(found, dict) else {}


def _roles_of(published: Mapping[str, Any]) -> Roles:
    roles = published.get("roles", {})
    try:
        return Roles.of(**roles)
    except TypeError:
        raise DataError("the roles beside the release are not readable; get its file again") from None


def _merge(base: Roles, given: Roles) -> Roles:
    """Names given in the call win over the file."""
    rest = base.without(given.assigned)
    return Roles.of(
        user=given.user or rest.user,
        identifier=(*rest.identifier, *given.identifier),
        quasi=(*rest.quasi, *given.quasi),
        sensitive=(*rest.sensitive, *given.sensitive),
        other=(*rest.other, *given.other),
    )


def _open_any(
    source: Any, labels: Sequence[str], *, table: str | None, engine: str | None, **options: Any
) -> Dataset:
    if isinstance(source, (str, os.PathLike)):
        text = os.fspath(source)
        if "://" in text:
            return databases.open_url(text, table)
        if engine and engine != "duckdb":
            return databases.open_on_spark(text, engine, labels)
        return _open_file(text, labels, **options)
    return _open_memory(source)


def _open_file(source: str, labels: Sequence[str], *, encoding: str | None, sheet: str | None) -> Dataset:
    from sudare.data import catalog

    if source.startswith("example:"):
        from sudare.data import examples

        columns = examples.small(source)
        if columns is None:
            return Dataset.from_arrow(examples.load(source), name=source)
        return Dataset(roles=Roles(), name=source, view=_open_values(columns))
    if source in catalog.NAMES and not Path(source).exists():
        source = str(catalog.find(source))
    paths = _paths(source)
    kind = _kind(paths[0])
    name = paths[0].name if len(paths) == 1 else Path(source).name
    if kind == "csv":
        from sudare.data.csv_reader import open_csv

        return Dataset(roles=Roles(), name=name, view=open_csv(paths, encoding=encoding, text=labels))
    if kind == "parquet":
        return Dataset(roles=Roles(), name=name, view=_open_parquet(paths))
    if kind == "xlsx":
        from sudare.data.excel import read_excel

        return Dataset.from_arrow(_usable(read_excel(paths[0], sheet), name), name=name)
    return Dataset.from_arrow(_usable(_read_ipc(paths), name), name=name)


def _open_values(columns: Mapping[str, Sequence[Any]]) -> str:
    """A few rows as a view, without Arrow: an example is measured faster than Arrow is loaded."""
    view = fresh_name()
    kinds = {str: literal, int: "{}::BIGINT".format, float: "{}::DOUBLE".format}
    rows = ", ".join(f"({', '.join(kinds[type(v)](v) for v in row)})" for row in zip(*columns.values()))
    names = ", ".join(quote(name) for name in columns)
    connect().execute(f"CREATE VIEW {view} AS SELECT * FROM (VALUES {rows}) AS t({names})")
    return view


def _paths(source: str) -> list[Path]:
    """The files a path or glob names, in alphabetical order; what cannot be a table is refused."""
    found = (
        [Path(source)]
        if os.path.lexists(source)
        else [Path(p) for p in sorted(glob.glob(source, recursive=True))]
    )
    if not found:
        raise DataError(f"{source}: no such file; check the path")
    for path in found:
        try:
            mode = path.stat().st_mode
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror}); check the path") from None
        if stat.S_ISDIR(mode):
            raise DataError(f"{path}: is a folder; name the files in it, e.g. {path}/*.parquet")
        if not stat.S_ISREG(mode):
            raise DataError(f"{path}: is not a regular file; save it as a file first")
        if not os.access(path, os.R_OK):
            raise DataError(f"{path}: cannot be read (permission denied); check its permissions")
    return found


def _kind(path: Path) -> str:
    suffixes = [s.lower() for s in path.suffixes]
    suffix = (
        suffixes[-2] if suffixes[-1:] in ([".gz"], [".zip"]) and len(suffixes) > 1 else (suffixes or [""])[-1]
    )
    kinds = {
        ".csv": "csv",
        ".tsv": "csv",
        ".txt": "csv",
        ".parquet": "parquet",
        ".pq": "parquet",
        ".xlsx": "xlsx",
    }
    kinds |= {".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc"}
    if suffix in (".xlsm", ".xls", ".xlsb"):
        raise DataError(
            f"{path}: workbooks with macros and old formats are refused; save it as .xlsx without macros"
        )
    if suffix not in kinds:
        raise DataError(f"{path}: unknown kind of file '{suffix}'; sudare reads {FORMATS}")
    return kinds[suffix]


def _open_parquet(paths: Sequence[Path]) -> str:
    import duckdb

    view = fresh_name()
    files = ", ".join(literal(str(path)) for path in paths)
    try:
        connect().execute(f"CREATE VIEW {view} AS SELECT * FROM read_parquet([{files}])")
        rows = connect().sql(f"SELECT count(*) FROM {view}").fetchall()[0][0]
    except duckdb.Error:
        raise DataError(
            f"{paths[0]}: not a readable Parquet file, or its columns differ from the others'"
        ) from None
    if not rows:
        raise DataError(f"{paths[0]}: the table has no row; give one with at least one row")
    return view


def _read_ipc(paths: Sequence[Path]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.feather as feather

    try:
        return pa.concat_tables([feather.read_table(path, memory_map=True) for path in paths])
    except (pa.ArrowInvalid, OSError):
        raise DataError(
            f"{paths[0]}: not a readable Arrow file; save it again as .arrow or .parquet"
        ) from None


def _open_memory(source: Any) -> Dataset:
    import pyarrow as pa

    module = type(source).__module__.partition(".")[0]
    if isinstance(source, pa.Table):
        return Dataset.from_arrow(_usable(source, "memory"), name="memory")
    if isinstance(source, (pa.RecordBatch, pa.RecordBatchReader)):
        table = pa.Table.from_batches([source]) if isinstance(source, pa.RecordBatch) else source.read_all()
        return Dataset.from_arrow(_usable(table, "memory"), name="memory")
    if module == "pandas":
        return Dataset.from_arrow(_usable(_from_pandas(source), "memory"), name="memory")
    if module == "polars":
        frame = source.collect() if hasattr(source, "collect") else source
        return Dataset.from_arrow(_usable(frame.to_arrow(), "memory"), name="memory")
    if module == "ibis":
        return databases.open_ibis(source)
    if module == "pyspark":
        return databases.open_spark_frame(source)
    raise UsageError(
        f"cannot open a {type(source).__name__}; give a path, a URL or a pandas, polars, pyarrow, ibis or Spark table"
    )


def _from_pandas(frame: Any) -> pa.Table:
    """The columns of a pandas frame; its index is not data."""
    import pyarrow as pa

    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise DataError("the table has two columns of the same name; rename one")
    arrays = []
    for place, name in enumerate(names):
        try:
            arrays.append(pa.array(frame.iloc[:, place], from_pandas=True))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            text = [None if value is None or value != value else str(value) for value in frame.iloc[:, place]]
            warn("S-MIXED", f"column '{name}' holds values of different types; they are compared as text")
            arrays.append(pa.array(text, pa.string()))
    return pa.table(arrays, names=names)


def _usable(table: pa.Table, name: str) -> pa.Table:
    """A table with rows, distinct names and plain types."""
    import pyarrow as pa

    if len({n.lower() for n in table.column_names}) < table.num_columns:
        raise DataError(f"{name}: the table has two columns of the same name; rename one")
    if table.num_columns == 0 or table.num_rows == 0:
        raise DataError(f"{name}: the table has no row; give one with at least one row")
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, table[field.name].cast(field.type.value_type))
        if pa.types.is_null(field.type):
            table = table.set_column(place, field.name, table[field.name].cast(pa.string()))
    return table.replace_schema_metadata(None)


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
