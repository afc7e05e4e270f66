"""Files and built-in tables by name: which files a path or glob means, and who reads them."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.data.connection import connect, fresh_name, literal, quote
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles, check_names
from sudare.errors import DataError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.readers.expected import Expected

FORMATS = ".csv .tsv .txt (also .gz, .zip), .parquet, .arrow .feather .ipc, .xlsx"
KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
    ".xlsx": "xlsx",
}


def open_file(source: str, expected: Expected, *, encoding: str | None, sheet: str | None) -> Dataset:
    """A dataset over a file, a glob, `example:NAME` or a public data set."""
    from sudare.examples import catalog

    if source.startswith("example:"):
        return _open_example(source)
    if source in catalog.NAMES and not Path(source).exists():
        source = str(catalog.find(source))
    paths = _paths(source)
    name = paths[0].name if len(paths) == 1 and not os.path.isdir(source) else Path(source).name
    kind = _one_kind(paths)
    if kind == "csv":
        from sudare.data.readers.csv import open_csv

        return Dataset(roles=Roles(), name=name, view=open_csv(paths, expected, encoding=encoding))
    if kind == "parquet":
        from sudare.data.readers.parquet import open_parquet

        return open_parquet(paths, name, partitions=expected.partitions)
    from sudare.data.readers.arrow import usable

    return Dataset.from_arrow(usable(_read(kind, paths, sheet), name), name=name)


def files_of(source: Any) -> tuple[str, ...]:
    """The files behind a path or a glob, as absolute paths; none for anything else."""
    if not isinstance(source, (str, os.PathLike)) or "://" in os.fspath(source):
        return ()
    text = os.fspath(source)
    found = [text] if os.path.lexists(text) else glob.glob(text, recursive=True)
    return tuple(os.path.abspath(path) for path in (*found, *_files_within(Path(text))))


def _open_example(source: str) -> Dataset:
    from sudare.examples import builtin as examples

    columns = examples.small(source)
    if columns is None:
        return Dataset.from_arrow(examples.load(source), name=source)
    return Dataset(roles=Roles(), name=source, view=_open_values(columns))


def _open_values(columns: Mapping[str, Sequence[Any]]) -> str:
    """A few rows as a view, without Arrow: an example is measured faster than Arrow is loaded."""
    view = fresh_name()
    kinds = {str: literal, int: "{}::BIGINT".format, float: "{}::DOUBLE".format}
    rows = ", ".join(f"({', '.join(kinds[type(v)](v) for v in row)})" for row in zip(*columns.values()))
    names = ", ".join(quote(name) for name in columns)
    connect().execute(f"CREATE VIEW {view} AS SELECT * FROM (VALUES {rows}) AS t({names})")
    return view


def _paths(source: str) -> list[Path]:
    """The files a path or glob names, in alphabetical order; what cannot be a table is refused.

    A folder called *.parquet, as Spark writes one, is the table of the Parquet files in it.
    """
    found = (
        _files_within(Path(source)) or [Path(source)]
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


def _files_within(path: Path) -> list[Path]:
    return sorted(path.glob("*.parquet")) if path.suffix == ".parquet" and path.is_dir() else []


def _one_kind(paths: Sequence[Path]) -> str:
    kinds = {_kind(path): path for path in paths}
    if len(kinds) > 1:
        raise UsageError(
            f"{' and '.join(map(str, kinds.values()))}: files of different kinds; name one kind, e.g. *.parquet"
        )
    return next(iter(kinds))


def _kind(path: Path) -> str:
    suffixes = [s.lower() for s in path.suffixes]
    packed = suffixes[-1:] in ([".gz"], [".zip"])
    suffix = suffixes[-2] if packed and len(suffixes) > 1 else (suffixes or [""])[-1]
    if suffix in (".xlsm", ".xls", ".xlsb"):
        raise DataError(
            f"{path}: workbooks with macros and old formats are refused; save it as .xlsx without macros"
        )
    if suffix not in KINDS:
        raise DataError(f"{path}: unknown kind of file '{suffix}'; sudare reads {FORMATS}")
    if packed and KINDS[suffix] != "csv":
        raise DataError(f"{path}: only text tables are read packed; unpack it first")
    return KINDS[suffix]


def _read(kind: str, paths: Sequence[Path], sheet: str | None) -> pa.Table:
    """Workbooks and Arrow files, as one table; all have the columns of the first."""
    import pyarrow as pa

    from sudare.data.readers.excel import read_excel

    tables = [read_excel(path, sheet) if kind == "xlsx" else _read_ipc(path) for path in paths]
    for path, table in zip(paths, tables):
        check_names(path, table.column_names)
        if set(table.column_names) != set(tables[0].column_names):
            raise DataError(f"{path}: its columns differ from those of {paths[0]}; open them one by one")
    try:
        return pa.concat_tables([table.select(tables[0].column_names) for table in tables])
    except pa.ArrowInvalid:
        raise DataError(
            f"{paths[0]}: a column has another type in another file; write all with the same types"
        ) from None


def _read_ipc(path: Path) -> pa.Table:
    """An Arrow file, or the stream that the same ending may hold."""
    import pyarrow as pa
    import pyarrow.feather as feather

    try:
        return feather.read_table(path, memory_map=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        pass
    try:
        with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
            return stream.read_all()
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise DataError(f"{path}: not a readable Arrow file; save it again as .arrow or .parquet") from None
