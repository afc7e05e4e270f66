"""TP (Xiao, Yi and Tao 2010): star the quasi-identifiers of as few records as l-diversity allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.constraints import AtLeast
from sudare.data.values.recoded import SUPPRESSED
from sudare.data.values.sets import SetSchema
from sudare.disclosure.diversity import check_eligible
from sudare.errors import UsageError
from sudare.keys import Key, order
from sudare.methods.plugins.anatomy import sensitive_column
from sudare.registry import method

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.engine.rows import Draft


@method
@dataclass(frozen=True, kw_only=True)
class TP:
    """Groups of equal quasi-identifiers keep them where no sensitive value exceeds 1/l; the rest is starred.

    The records that must leave their group form one residue, itself l-diverse, whose quasi-identifiers become
    `*` (a column on which the whole residue agrees keeps its value). Starred columns become text.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, TP(l=2), key=bytes(range(32)))
    >>> set(release.data.to_pyarrow()["sex"].to_pylist())
    {'*'}
    """

    l: Annotated[int, AtLeast(2)]
    column: str | None = None

    scope: ClassVar[str] = "table"
    instead: ClassVar[str] = "use randomized-addition instead"
    technique: ClassVar[str] = "local suppression"
    family: ClassVar[str] = "l-diversity"
    details: ClassVar[Mapping[str, str]] = {"residue": "total", "l": "fact"}

    def apply(self, draft: Draft, key: Key) -> Draft:
        from sudare.engine.codes import classes, codes
        from sudare.engine.kernels.tp import residue

        name = sensitive_column(draft, self.column, "tp")
        quasi = [c for c in draft.roles.quasi if c != name]
        if not quasi:
            raise UsageError("tp: the table has no quasi-identifiers; name them with quasi=")
        matrix, (*known, domain) = codes(draft.table, [*quasi, name])
        check_eligible(np.bincount(matrix[:, -1]), self.l, name)
        turn = order(key, "tp", name, draft.ids)
        label, _ = classes(matrix[:, :-1])
        gone = np.empty(len(turn), np.bool_)
        gone[turn] = residue(label[turn], matrix[turn, -1], self.l, len(domain))
        table = star(draft.table, quasi, gone)
        distinct = {column: len(values) for column, values in zip(quasi, known)}
        entry = {**SetSchema(self.l, tuple(domain.to_pylist())).to_dict(), "distinct": distinct}
        return draft.replace(
            table=table,
            schema={**draft.schema, "tp": {**draft.schema.get("tp", {}), name: entry}},
            details={"residue": int(gone.sum()), "l": self.l},
        )


def star(table: pa.Table, columns: list[str], gone: NDArray[np.bool_]) -> pa.Table:
    """Star the marked records in every column on which they differ.

    >>> import pyarrow as pa
    >>> star(pa.table({"age": [1, 2, 3]}), ["age"], np.array([True, False, True]))["age"].to_pylist()
    ['*', '2', '*']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not gone.any():
        return table
    for name in columns:
        if pc.count_distinct(table[name].filter(pa.array(gone)), mode="all").as_py() > 1:
            text = table[name].cast(pa.string())
            starred = pc.if_else(pa.array(gone), SUPPRESSED, text.combine_chunks())
            table = table.set_column(table.schema.get_field_index(name), name, starred)
    return table
