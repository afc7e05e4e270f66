"""Tables that a pass over the rows leaves on disk for the next one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.data.connection import connect, file_literal, fresh_name, private_folder, quote
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1 << 17


def _folder() -> Any:
    return tempfile.TemporaryDirectory(dir=private_folder())


@dataclass(frozen=True)
class Store:
    """A folder inside the private one of this process; it goes when nobody needs its tables any more."""

    folder: Any = field(default_factory=_folder)

    def write(self, tables: Iterable[pa.Table]) -> Path:
        """Tables one after another, in one file made for reading once."""
        import pyarrow.parquet

        path, writer = self.file(), None
        try:
            for table in tables:
                if writer is None:
                    writer = pyarrow.parquet.ParquetWriter(
                        path, table.schema, compression="lz4", use_dictionary=False, write_statistics=False
                    )
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()
        return path

    def copy(self, query: str) -> Path:
        """The result of a query, whose order DuckDB keeps."""
        path = self.file()
        connect().execute(f"COPY ({query}) TO {file_literal(path)} (FORMAT parquet, COMPRESSION lz4)")
        return path

    def dataset(self, path: Path, columns: Iterable[str], name: str) -> Dataset:
        """A stored table as a dataset, which keeps the folder alive."""
        view = fresh_name()
        chosen = ", ".join(map(quote, columns))
        connect().execute(f"CREATE VIEW {view} AS SELECT {chosen} FROM {scan(path)}")
        return Dataset(roles=Roles(), name=name, view=view, keep_alive=self)

    def file(self) -> Path:
        """A new file's name."""
        return Path(self.folder.name) / f"{fresh_name()}.parquet"


def scan(path: Path) -> str:
    """A stored table in a query."""
    return f"read_parquet({file_literal(path)})"


def stream(query: str) -> Iterator[pa.Table]:
    """The result of a query, a batch at a time, on a cursor of its own."""
    import pyarrow as pa

    for batch in connect().cursor().sql(query).to_arrow_reader(BATCH_ROWS):
        yield pa.Table.from_batches([batch])
