"""DeleteRecords: some records are not published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from sudare.constraints import AtLeast, Below
from sudare.keys import Key, order
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.methods.draft import Draft


@method
@dataclass(frozen=True, kw_only=True)
class DeleteRecords:
    """Leave out a share of the records, drawn at random (P4, method h).

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, DeleteRecords(share=0.5), key=bytes(range(32)))
    >>> release.data.rows
    4
    """

    share: Annotated[float, "a share of the records", AtLeast(0), Below(1)]

    technique: ClassVar[str] = "record suppression"
    family: ClassVar[str] = "Generalise and suppress"

    def apply(self, draft: Draft, key: Key) -> Draft:
        gone = order(key, "delete", "", draft.ids)[: round(self.share * draft.rows)]
        kept = np.ones(draft.rows, np.bool_)
        kept[gone] = False
        return draft.take(kept).replace(details={"deleted": len(gone)})
