"""Anatomy (Xiao and Tao 2006): quasi-identifiers stay, sensitive values are published per group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.constraints import AtLeast
from sudare.data.values.sets import SetSchema, to_arrow
from sudare.disclosure.diversity import check_eligible
from sudare.errors import UsageError
from sudare.keys import Key, order, words
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.engine.rows import Draft


@method
@dataclass(frozen=True, kw_only=True)
class Anatomy:
    """Put records into groups of l or a few more with different sensitive values; publish the group's values.

    Every record carries the sorted list of the sensitive values of its group, which is the join of the two
    tables of the paper without its blow-up; a value fills at most 1/l of a list.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, Anatomy(l=2), key=bytes(range(32)))
    >>> all(len(set(cell)) >= 2 for cell in release.data.to_pyarrow()["disease"].to_pylist())
    True
    """

    l: Annotated[int, AtLeast(2)]
    column: str | None = None

    scope: ClassVar[str] = "table"
    instead: ClassVar[str] = "use randomized-addition instead"
    technique: ClassVar[str] = "permutation"
    family: ClassVar[str] = "l-diversity"
    details: ClassVar[Mapping[str, str]] = {"groups": "total", "l": "fact"}

    def apply(self, draft: Draft, key: Key) -> Draft:
        from sudare.engine.codes import codes
        from sudare.engine.kernels.anatomy import anatomize

        name = sensitive_column(draft, self.column, "anatomy")
        matrix, (domain,) = codes(draft.table, [name])
        check_eligible(np.bincount(matrix[:, 0]), self.l, name)
        turn = order(key, "anatomy", name, draft.ids)
        noise = words(key, "anatomy groups", name, draft.ids[turn], 1)[:, 0]
        groups = np.empty(len(turn), np.int64)
        groups[turn] = anatomize(matrix[turn, 0], self.l, len(domain), noise)
        values, offsets = lists_of_groups(groups, matrix[:, 0])
        entry = SetSchema(self.l, tuple(domain.to_pylist())).to_dict()
        return draft.with_column(name, to_arrow(values, offsets, domain)).replace(
            schema={**draft.schema, "anatomy": {**draft.schema.get("anatomy", {}), name: entry}},
            details={"groups": int(groups.max()) + 1, "l": self.l},
        )


def sensitive_column(draft: Draft, column: str | None, method_name: str) -> str:
    """The given column, or the only sensitive one."""
    from sudare.errors import nearest

    chosen = [column] if column is not None else list(draft.roles.sensitive)
    if len(chosen) != 1:
        raise UsageError(f"{method_name}: name the sensitive column with column= (there are {len(chosen)})")
    if chosen[0] not in draft.table.column_names:
        raise UsageError(
            f"{method_name}: unknown column '{chosen[0]}'; {nearest(chosen[0], draft.table.column_names)}"
        )
    return chosen[0]


def lists_of_groups(
    groups: NDArray[np.int64], values: NDArray[np.integer]
) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
    """For every record the sorted values of its group: all members in one array, and the offsets.

    >>> members, offsets = lists_of_groups(np.array([0, 1, 0, 1]), np.array([2, 0, 1, 3]))
    >>> members.tolist(), offsets.tolist()
    ([1, 2, 0, 3, 1, 2, 0, 3], [0, 2, 4, 6, 8])
    """
    by_group = np.lexsort((values, groups))
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    lengths = sizes[groups]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return values[by_group[np.repeat(starts[groups], lengths) + within]], offsets
