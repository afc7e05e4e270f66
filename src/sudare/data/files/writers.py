"""Files are written whole or not at all: a temporary beside the target, flushed to disk, then renamed."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.data.readers.excel import write_excel
from sudare.data.values import sets
from sudare.errors import DataError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".xlsx")
TEMPORARY = ".sudare-part"


def write_table(table: pa.Table, path: str | os.PathLike[str], *, escape_formulas: bool = False) -> int:
    """Write a table in the format of the path's ending; returns how many cells were escaped."""
    return write_tables([table], path, escape_formulas=escape_formulas)


def write_tables(
    tables: Iterable[pa.Table], path: str | os.PathLike[str], *, escape_formulas: bool = False
) -> int:
    """Write tables one after another into one file; returns how many cells were escaped.

    With `escape_formulas` a text cell or a column's name that a spreadsheet would run (it begins with = + - @) gets
    a leading quote; a set gets a backslash, which is read back as nothing.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in FORMATS:
        raise UsageError(f"{path}: unknown kind of output '{path.suffix}'; sudare writes {' '.join(FORMATS)}")
    escaped = 0

    def prepared() -> Iterator[pa.Table]:
        nonlocal escaped
        for place, table in enumerate(tables):
            joined = _join_sets(table) if kind in (".csv", ".tsv", ".xlsx") else table
            if escape_formulas and kind in (".csv", ".tsv", ".xlsx"):
                joined, cells = _escape(joined, table.schema, names=place == 0)
                escaped += cells
            yield joined

    with replacing(path) as part:
        _WRITERS[kind](prepared(), part)
    return escaped


def write_json(content: Any, path: str | os.PathLike[str], *, mode: int = 0o644) -> None:
    """Write JSON the same careful way."""
    with replacing(path, mode=mode) as part:
        part.write_text(json.dumps(content, indent=2, ensure_ascii=False, default=str) + "\n", "utf-8")


def write_text(content: str, path: str | os.PathLike[str], *, mode: int = 0o644) -> None:
    """Write text the same careful way."""
    with replacing(path, mode=mode) as part:
        part.write_text(content, "utf-8")


def check_output(path: str | os.PathLike[str], inputs: tuple[str | os.PathLike[str], ...] = ()) -> Path:
    """Refuse, before any work, an output that is a link, a folder, one of the inputs or in a missing folder."""
    path = Path(path)
    if path.is_symlink():
        raise UsageError(f"{path}: is a symbolic link; name the file itself")
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; name a file in it")
    for given in inputs:
        if path.exists() and Path(given).exists() and os.path.samefile(path, given):
            raise UsageError(f"{path}: is also the input; name another output")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path.parent}: no such folder; make it first")
    return path


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, mode: int = 0o644) -> Iterator[Path]:
    """A temporary to write to; it takes the target's place when all went well, and is gone when not."""
    path = check_output(path)
    _remove_stale(path.absolute().parent)
    part = path.absolute().with_name(f".{path.name}{TEMPORARY}")
    handle = _claim(part, path)
    try:
        yield part
        with open(part, "rb") as written:
            os.fsync(written.fileno())
        os.chmod(part, mode & ~_umask())
        os.replace(part, path)
        _sync_folder(path.absolute().parent)
    except OSError as error:
        raise _write_error(path, error) from None
    finally:
        part.unlink(missing_ok=True)
        os.close(handle)
        _claimed.discard(part)


_claimed: set[Path] = set()


@atexit.register
def _remove_claimed() -> None:
    """What a Ctrl-C left that came between making a temporary and guarding it, or while it was being removed."""
    for part in _claimed:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _claim(part: Path, path: Path) -> int:
    """An empty temporary that is ours alone while the returned handle is open."""
    _claimed.add(part)
    try:
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise _write_error(path, error) from None
    if not _locked(handle):
        _claimed.discard(part)
        os.close(handle)
        raise UsageError(f"{path}: another run is writing it; wait for it or name another output")
    os.ftruncate(handle, 0)
    return handle


def _umask() -> int:
    """What the user's files deny to others; for a moment they deny more, never less."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _remove_stale(folder: Path) -> None:
    """Temporaries that a killed run left here: nobody holds their lock."""
    for part in folder.glob(f".*{TEMPORARY}"):
        with contextlib.suppress(OSError):
            handle = os.open(part, os.O_RDWR | os.O_NOFOLLOW)
            if _locked(handle):
                part.unlink(missing_ok=True)
            os.close(handle)


def _locked(handle: int) -> bool:
    """Whether the lock is ours now."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _write_error(path: Path, error: OSError) -> DataError:
    return DataError(f"{path}: cannot be written ({error.strerror or 'error'}); nothing was changed")


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _join_sets(table: pa.Table) -> pa.Table:
    """Columns of sets as text, for formats that know no lists."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if sets.is_sets(field.type):
            text = [None if cell is None else sets.to_text(cell) for cell in table[field.name].to_pylist()]
            table = table.set_column(place, field.name, pa.array(text, pa.string()))
    return table


def escaped_name(name: str) -> str:
    """A column's name as a spreadsheet would leave it alone.

    >>> escaped_name("=1+1"), escaped_name("age")
    ("'=1+1", 'age')
    """
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


def _escape(table: pa.Table, original: pa.Schema, *, names: bool) -> tuple[pa.Table, int]:
    """The table with risky cells escaped, and how many; with `names` the columns' names are counted too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    safe = [escaped_name(name) for name in table.column_names]
    count = sum(new != old for new, old in zip(safe, table.column_names)) if names else 0
    table = table.rename_columns(safe)
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            column, mark = table[field.name], "\\" if sets.is_sets(original.field(place).type) else "'"
            risky = pc.fill_null(pc.match_substring_regex(column, r"^[=+\-@\t\r]"), False)
            count += int(pc.sum(risky).as_py() or 0)
            table = table.set_column(
                place, field.name, pc.if_else(risky, pc.binary_join_element_wise(mark, column, ""), column)
            )
    return table, count


def _write_each(tables: Iterable[pa.Table], open_writer: Callable[[pa.Schema], Any]) -> None:
    """All tables through one writer, which is opened with the columns of the first."""
    listed = iter(tables)
    first = next(listed)
    with open_writer(first.schema) as file:
        for table in itertools.chain([first], listed):
            file.write_table(table)


def _write_delimited(tables: Iterable[pa.Table], path: Path, delimiter: str) -> None:
    import pyarrow.csv

    options = pyarrow.csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
    _write_each(tables, lambda schema: pyarrow.csv.CSVWriter(path, schema, write_options=options))


def _write_parquet(tables: Iterable[pa.Table], path: Path) -> None:
    import pyarrow.parquet

    def open_writer(schema: pa.Schema) -> Any:
        # the smallest and largest member of a set say nothing, and finding them costs a quarter of the write
        plain = [field.name for field in schema if not sets.is_sets(field.type)]
        return pyarrow.parquet.ParquetWriter(path, schema, compression="zstd", write_statistics=plain)

    _write_each(tables, open_writer)


def _write_ipc(tables: Iterable[pa.Table], path: Path) -> None:
    import pyarrow as pa

    options = pa.ipc.IpcWriteOptions(compression="lz4")
    _write_each(tables, lambda schema: pa.ipc.new_file(path, schema, options=options))


def _write_sheet(tables: Iterable[pa.Table], path: Path) -> None:
    import pyarrow as pa

    write_excel(pa.concat_tables(tables), path)


_WRITERS: dict[str, Callable[[Iterable[pa.Table], Path], None]] = {
    ".csv": lambda tables, path: _write_delimited(tables, path, ","),
    ".tsv": lambda tables, path: _write_delimited(tables, path, "\t"),
    ".parquet": _write_parquet,
    ".arrow": _write_ipc,
    ".feather": _write_ipc,
    ".xlsx": _write_sheet,
}
