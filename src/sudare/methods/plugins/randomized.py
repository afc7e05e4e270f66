"""Randomized addition (P2): quasi-identifiers stay, every sensitive value hides in a set of l values."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np

from sudare.constraints import AtLeast
from sudare.data.values.recoded import plain
from sudare.data.values.sets import SetSchema, check_l, to_arrow
from sudare.errors import DataError, UsageError, warn
from sudare.keys import Key, words
from sudare.keys.ledger import Ledger
from sudare.registry import method

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.roles import Roles
    from sudare.methods.draft import Draft

BLOCK = 1 << 18


@method
@dataclass(frozen=True, kw_only=True)
class RandomizedAddition:
    """Publish the true value together with l-1 others, drawn uniformly from the domain (P2, Alg. 1).

    The others come from the key and the record's id: the same record gets the same set in every release, a
    smaller l gives a part of the set of a larger one, and nobody without the key can redo the draw.
    `column` is one sensitive column or several (default: all); `domain` fixes the possible values, otherwise
    they are those of the table. `force` overrides the ledger that refuses a second draw with another key.
    l = 1 publishes the truth, with a warning.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, RandomizedAddition(l=3), key=bytes(range(32)))
    >>> set(map(len, release.data.to_pyarrow()["disease"].to_pylist()))
    {3}
    """

    l: Annotated[int, AtLeast(1)]
    column: str | Sequence[str] | None = None
    domain: Sequence[Any] | None = None
    force: bool = False

    technique: ClassVar[str] = "randomization"
    family: ClassVar[str] = "l-diversity"
    rowwise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.domain is not None and len(self.columns_given) > 1:
            raise UsageError("randomized-addition: domain belongs to one column; use one step per column")

    @property
    def columns_given(self) -> tuple[str, ...]:
        if self.column is None:
            return ()
        return (self.column,) if isinstance(self.column, str) else tuple(self.column)

    def columns(self, roles: Roles) -> tuple[str, ...]:
        """The columns to randomise."""
        chosen = self.columns_given or roles.sensitive
        if not chosen:
            raise UsageError("randomized-addition: no sensitive column; name one with column=")
        return chosen

    def fit(self, draft: Draft) -> Self:
        """The same method with the domain of the table's values fixed, so that chunks agree."""
        name, *others = self.columns(draft.roles)
        if others:
            raise UsageError("randomized-addition: chunks need one step per column")
        return dataclasses.replace(self, column=name, domain=tuple(_domain(draft.table, name).to_pylist()))

    def apply(self, draft: Draft, key: Key) -> Draft:
        if self.l == 1:
            warn("S-TRUTH", "randomized addition with l = 1 publishes the true value of every record")
        schema = dict(draft.schema.get("randomized", {}))
        details: dict[str, Any] = {}
        for name in self.columns(draft.roles):
            domain = self._domain_of(draft, name)
            check_l(self.l, len(domain), name)
            self._consult_ledger(draft, key, name, domain)
            draft = draft.with_column(name, self._sets(draft, key, name, domain))
            schema[name] = SetSchema(self.l, tuple(domain.to_pylist())).to_dict()
            details[name] = {"l": self.l, "values": len(domain), "claimed": 1 / self.l}
        return draft.replace(schema={**draft.schema, "randomized": schema}, details=details)

    def _sets(self, draft: Draft, key: Key, name: str, domain: pa.Array) -> pa.Array:
        """The column of sets; drawn block by block, which changes nothing: every draw is the record's own."""
        from sudare.engine.kernels.randomized import draw_sets, words_needed

        truth, rows = _codes(draft.table[name], domain, name), draft.table.num_rows
        blocks = [
            draw_sets(
                truth[at : at + BLOCK],
                words(
                    key,
                    "randomized addition",
                    name,
                    draft.ids[at : at + BLOCK],
                    words_needed(len(domain), self.l),
                ),
                len(domain),
                self.l,
            )
            for at in range(0, rows, BLOCK)
        ]
        values = np.concatenate(blocks).reshape(-1) if blocks else np.empty(0, np.uint8)
        return to_arrow(values, np.arange(rows + 1, dtype=np.int64) * self.l, domain)

    def _domain_of(self, draft: Draft, name: str) -> pa.Array:
        import pyarrow as pa

        found = _domain(draft.table, *draft.require(name))
        if self.domain is None:
            return found
        given = pa.array(list(self.domain)).cast(found.type)
        return _sorted_domain(given.unique())

    def _consult_ledger(self, draft: Draft, key: Key, name: str, domain: pa.Array) -> None:
        ledger = Ledger.beside(key)
        if ledger is None or key.insecure:
            return
        sketch = ledger.sketch(draft.table, draft.roles)
        digest = ledger.domain(name, [plain(value) or "" for value in domain.to_pylist()])
        if not self.force:
            ledger.check(key, name, digest, sketch)
        ledger.remember(key, name, digest, sketch)


def _domain(table: pa.Table, name: str) -> pa.Array:
    """The values of a column in sorted order; a missing value is a value of its own, the last."""
    from sudare.data.values.sets import is_sets

    if is_sets(table[name].type):
        raise UsageError(f"randomized-addition: '{name}' already holds sets")
    return _sorted_domain(table[name].unique())


def _sorted_domain(values: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return values.take(pc.array_sort_indices(values))


def _codes(column: pa.ChunkedArray, domain: pa.Array, name: str) -> np.ndarray[Any, np.dtype[np.integer]]:
    import pyarrow.compute as pc

    codes = pc.index_in(column, value_set=domain)
    if codes.null_count:
        raise DataError(
            f"{name}: {codes.null_count} records have a value outside the given domain; widen domain="
        )
    return np.asarray(codes)
