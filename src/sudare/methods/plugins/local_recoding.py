"""LocalRecoding: every row published, as near to the truth as groups of k allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from sudare.constraints import Above, AtLeast, Below, Within
from sudare.keys import Key
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
    from sudare.engine.rows import Draft


@method
@dataclass(frozen=True, kw_only=True)
class LocalRecoding:
    """Rows in groups of at least k; each group publishes one vector, its cells as narrow as the group allows.

    A column with a hierarchy publishes the lowest common label; other numbers and dates an interval `[20-29]`,
    other values a set `{a, b}` (see sudare.data.values.recoded). No row is dropped. Loss is NCP: per cell (values
    covered - 1) / (all values - 1), for intervals (high - low) / range. `l` and `t` are conditions on the
    sensitive column: distinct or entropy l-diversity, and t-closeness by the earth mover's distance.

    >>> import sudare
    >>> ds = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(ds, LocalRecoding(k=2), key=bytes(range(32)))
    >>> release.steps[0]["details"]["smallest"] >= 2
    True
    """

    k: Annotated[int, AtLeast(2)]
    columns: Sequence[str] | None = None
    hierarchies: Hierarchies = None
    l: Annotated[float, Above(1)] | None = None
    t: Annotated[float, AtLeast(0), Below(1)] | None = None
    sensitive: str | None = None
    diversity: Diversity = "distinct"
    sweeps: Annotated[int, Within(0, 1000)] = 2

    scope: ClassVar[str] = "table"
    instead: ClassVar[str] = "use mondrian instead"
    technique: ClassVar[str] = "generalization"
    family: ClassVar[str] = "k-anonymity"
    details: ClassVar[Mapping[str, str]] = {
        "k": "fact",
        "groups": "total",
        "smallest": "fact",
        "largest": "fact",
        "ncp": "mean",
        "ncp_by_column": "mean",
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "hierarchies", writable(self.hierarchies))

    def apply(self, draft: Draft, key: Key) -> Draft:
        """Group the rows and publish what their groups have in common; nothing is drawn from the key."""
        from sudare.engine.grouping import group_rows

        names = quasi_columns(draft, self.columns, "local-recoding")
        check_k(draft, self.k, "local-recoding")
        traits, conditions = sensitive_codes(
            draft, "local-recoding", self.sensitive, self.l, self.t, self.diversity
        )
        quasi = encode(draft.table, names, resolve(self.hierarchies, draft.table, names))
        grouping = group_rows(quasi.codes, quasi.columns, self.k, traits, conditions, draft.ids, self.sweeps)
        table = publish(draft.table, quasi, grouping)
        return draft.replace(table=table, details={"k": self.k, **losses(quasi, grouping)})
