"""Randomized addition (P2): quasi-identifiers stay, every sensitive value hides in a set of l values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from sudare.constraints import AtLeast
from sudare.data.values.recoded import plain
from sudare.data.values.sets import SetSchema, check_l, is_sets, to_arrow
from sudare.errors import DataError, UsageError, warn
from sudare.keys import Key, Words, words
from sudare.keys.ledger import Ledger, sketch_of, smallest_marks
from sudare.keys.records import person_ids
from sudare.registry import method

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.roles import Roles
    from sudare.engine.rows import Draft
    from sudare.engine.summary import Summary

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

    scope: ClassVar[str] = "row"
    randomises: ClassVar[bool] = True
    technique: ClassVar[str] = "randomization"
    family: ClassVar[str] = "l-diversity"
    details: ClassVar[Mapping[str, str]] = {"*": "fact"}

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

    def apply(self, draft: Draft, key: Key) -> Draft:
        return self.fit(draft.replace(key=key)).apply(draft, key)

    def fit(self, summary: Summary) -> Drawn:
        """The domain of every column; the ledger is asked, and told, before anything is drawn."""
        if self.l == 1:
            warn("S-TRUTH", "randomized addition with l = 1 publishes the true value of every record")
        domains = {name: self._domain(summary, name) for name in self.columns(summary.shape.roles)}
        for name, domain in domains.items():
            check_l(self.l, len(domain), name)
            self._consult_ledger(summary, name, domain)
        return Drawn(self.l, domains)

    def _domain(self, summary: Summary, name: str) -> pa.Array:
        """The values of a column in sorted order; a missing value is a value of its own, the last."""
        import pyarrow as pa

        kind = summary.types.field(*summary.require(name)).type
        if is_sets(kind):
            raise UsageError(f"randomized-addition: '{name}' already holds sets")
        if self.domain is None:
            return _sorted(summary.distinct(name).combine_chunks())
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        return _sorted(pa.array(list(self.domain)).cast(kind).unique())

    def _consult_ledger(self, summary: Summary, name: str, domain: pa.Array) -> None:
        ledger = Ledger.beside(summary.secret)
        if ledger is None or summary.secret.insecure:
            return
        sketch = sketch_of(np.concatenate(summary.reduce(_marks, ledger.secret())))
        digest = ledger.domain(name, [plain(value) or "" for value in domain.to_pylist()])
        if not self.force:
            ledger.check(summary.secret, name, digest, sketch)
        ledger.remember(summary.secret, name, digest, sketch)


@dataclass(frozen=True)
class Drawn:
    """Sets of l values of known domains, one domain per column."""

    l: int
    domains: Mapping[str, pa.Array]

    def apply(self, draft: Draft, key: Key) -> Draft:
        schema = dict(draft.schema.get("randomized", {}))
        details: dict[str, Any] = {}
        for name, domain in self.domains.items():
            draft = draft.with_column(name, self._sets(draft, key, name, domain))
            schema[name] = SetSchema(self.l, tuple(domain.to_pylist())).to_dict()
            details[name] = {"l": self.l, "values": len(domain), "claimed": 1 / self.l}
        return draft.replace(schema={**draft.schema, "randomized": schema}, details=details)

    def _sets(self, draft: Draft, key: Key, name: str, domain: pa.Array) -> pa.Array:
        """The column of sets; drawn block by block, which changes nothing: every draw is the record's own."""
        from sudare.engine.kernels.randomized import draw_sets, words_needed

        truth, rows = _codes(draft.table[name], domain, name), draft.rows
        needed = words_needed(len(domain), self.l)
        blocks = [
            draw_sets(
                truth[at : at + BLOCK],
                words(key, "randomized addition", name, draft.ids[at : at + BLOCK], needed),
                len(domain),
                self.l,
            )
            for at in range(0, rows, BLOCK)
        ]
        values = np.concatenate(blocks).reshape(-1) if blocks else np.empty(0, np.uint8)
        return to_arrow(values, np.arange(rows + 1, dtype=np.int64) * self.l, domain)


def _marks(draft: Draft) -> Words:
    """What the ledger needs of some records: the smallest keyed hash of their people in every bucket."""
    return smallest_marks(person_ids(draft.table, draft.roles, draft.secret), draft.secret)


def _sorted(values: pa.Array) -> pa.Array:
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
