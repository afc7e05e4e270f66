"""Mondrian: the table cut at medians, column by column, down to groups of k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from sudare.constraints import Above, AtLeast, Below
from sudare.keys import Key, order
from sudare.methods.conditions import Diversity, sensitive_codes
from sudare.methods.quasi import (
    Hierarchies,
    check_k,
    encode,
    losses,
    publish,
    quasi_columns,
    resolve,
    writable,
)
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.methods.draft import Draft


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

    technique: ClassVar[str] = "generalization"
    family: ClassVar[str] = "k-anonymity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "hierarchies", writable(self.hierarchies))

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
