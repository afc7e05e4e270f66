"""Mondrian: the table cut at medians, column by column, down to groups of k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from sudare.constraints import Above, AtLeast, Below
from sudare.engine.summary import COUNT, Summary
from sudare.keys import Key, order
from sudare.methods.conditions import Diversity, sensitive_codes
from sudare.methods.quasi import (
    Hierarchies,
    check_k,
    encode,
    losses,
    losses_of,
    publish,
    quasi_columns,
    resolve,
    writable,
)
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.engine.rows import Draft
    from sudare.methods.mondrian_classes import Lookup


@method
@dataclass(frozen=True, kw_only=True)
class Mondrian:
    """Multidimensional recoding (LeFevre, DeWitt, Ramakrishnan 2006): fast on millions of rows.

    The widest column of a part is cut at its median while both sides keep k rows (and meet `l` and `t`).
    Strict (the default): equal values stay together. `relaxed=True`: where no strict cut is left, rows at the
    median go to both sides, so that groups are smaller and may overlap. What groups publish, and its loss: see
    LocalRecoding, which loses less and takes longer.

    >>> import sudare
    >>> ds = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(ds, Mondrian(k=2), key=bytes(range(32)))
    >>> release.steps[0]["details"]["smallest"] >= 2
    True
    """

    k: Annotated[int, AtLeast(2)]
    columns: Sequence[str] | None = None
    relaxed: bool = False
    hierarchies: Hierarchies = None
    l: Annotated[float, Above(1)] | None = None
    t: Annotated[float, AtLeast(0), Below(1)] | None = None
    sensitive: str | None = None
    diversity: Diversity = "distinct"

    instead: ClassVar[str] = "leave out relaxed, l and t: then counts of the values will do"
    technique: ClassVar[str] = "generalization"
    family: ClassVar[str] = "k-anonymity"
    details: ClassVar[Mapping[str, str]] = {"*": "fact"}

    def __post_init__(self) -> None:
        object.__setattr__(self, "hierarchies", writable(self.hierarchies))

    @property
    def scope(self) -> str:
        """Cuts by medians need counts of the values alone; conditions on other columns, and ties, need the rows."""
        return "row" if not self.relaxed and self.l is None and self.t is None else "table"

    def fit(self, summary: Summary) -> Lookup:
        """The groups from how often each combination of values occurs: the same groups and losses as from the rows."""
        from sudare.engine.recoding import Grouping, places
        from sudare.methods.mondrian_classes import Lookup, group_classes

        names = quasi_columns(summary, self.columns, "mondrian")
        check_k(summary, self.k, "mondrian")
        counted = summary.counts(names)
        table, counts = counted.select(names), np.asarray(counted[COUNT], np.int64)
        quasi = encode(table, names, resolve(self.hierarchies, table, names))
        group_of, groups = group_classes(quasi.codes, counts, *places(quasi.columns), self.k)
        grouping = Grouping.of(quasi.codes, quasi.columns, group_of, groups)
        published = publish(table, quasi, grouping)
        changed = {n: published[n].combine_chunks() for n in names if not published[n].equals(table[n])}
        sizes = np.bincount(group_of, counts, groups)
        return Lookup.of(table, changed, {"k": self.k, **losses_of(quasi, grouping.costs, sizes)})

    def apply(self, draft: Draft, key: Key) -> Draft:
        """Cut, then publish what every part has in common; the key orders rows that tie (relaxed)."""
        from sudare.engine.kernels.mondrian import mondrian
        from sudare.engine.recoding import Grouping, places

        names = quasi_columns(draft, self.columns, "mondrian")
        check_k(draft, self.k, "mondrian")
        traits, conditions = sensitive_codes(
            draft, "mondrian", self.sensitive, self.l, self.t, self.diversity
        )
        quasi = encode(draft.table, names, resolve(self.hierarchies, draft.table, names))
        point, offset = places(quasi.columns)
        turn = order(key, "mondrian", "", draft.ids) if self.relaxed else np.arange(draft.rows)
        group_of = np.empty(draft.rows, np.int64)
        group_of[turn], groups = mondrian(
            quasi.codes[turn], point, offset, self.k, self.relaxed, traits[turn], conditions
        )
        grouping = Grouping.of(quasi.codes, quasi.columns, group_of, groups)
        table = publish(draft.table, quasi, grouping)
        return draft.replace(table=table, details={"k": self.k, **losses(quasi, grouping)})
