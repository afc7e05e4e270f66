"""DeleteRecords: some records are not published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sudare.errors import UsageError
from sudare.keys import Key, order
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.methods.draft import Draft


@method
@dataclass(frozen=True, kw_only=True)
class DeleteRecords:
    """Leave out a share of the records, drawn at random (P4, method h)."""

    share: float

    technique: ClassVar[str] = "record suppression"

    def __post_init__(self) -> None:
        if (
            isinstance(self.share, bool)
            or not isinstance(self.share, (int, float))
            or not 0 <= self.share < 1
        ):
            raise UsageError("delete-records: share is a number from 0 up to, not including, 1")

    def apply(self, draft: Draft, key: Key) -> Draft:
        gone = order(key, "delete", "", draft.ids)[: round(self.share * draft.rows)]
        kept = np.ones(draft.rows, np.bool_)
        kept[gone] = False
        return draft.take(kept).replace(details={"deleted": len(gone)})
