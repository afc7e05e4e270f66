"""LatticeRecoding: one level of generalisation per column, the best of all combinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.constraints import AtLeast, Within
from sudare.data.values.hierarchies import Hierarchy
from sudare.data.values.recoded import SUPPRESSED
from sudare.errors import UsageError
from sudare.keys import Key
from sudare.methods.quasi import Hierarchies, check_k, quasi_columns, resolve, writable
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.engine.lattice import Lattice
    from sudare.engine.rows import Draft

MOST_VECTORS = 2_000_000
SHOWN = 50


@method
@dataclass(frozen=True, kw_only=True)
class LatticeRecoding:
    """Global recoding to k-anonymity: every cell of a column is published on the same level of its hierarchy.

    All combinations of levels are classified; of those that leave at most the share `suppress` of the rows in
    classes smaller than k (these rows are starred, not dropped) the one with the least NCP is published, a
    starred cell counting 1. The optimum is exact. `details` tell the solution space: how many combinations
    there are, how many are anonymous, how many had to be checked, and the anonymous ones that nothing finer is.
    Columns without a hierarchy get one that is proposed from the data.

    >>> import pyarrow as pa, sudare
    >>> ds = sudare.open(pa.table({"age": [21, 25, 32, 38]}), quasi=["age"])
    >>> recode = LatticeRecoding(k=2, hierarchies={"age": {"intervals": [10, 20]}})
    >>> release = sudare.anonymize(ds, recode, key=bytes(range(32)))
    >>> sorted(release.data.to_pyarrow()["age"].to_pylist())
    ['[20-29]', '[20-29]', '[30-39]', '[30-39]']
    """

    k: Annotated[int, AtLeast(2)]
    suppress: Annotated[float, "a share of the rows", Within(0, 1)] = 0.0
    columns: Sequence[str] | None = None
    hierarchies: Hierarchies = None

    scope: ClassVar[str] = "table"
    instead: ClassVar[str] = "use mondrian, or generalize with a level you choose"
    technique: ClassVar[str] = "generalization"
    family: ClassVar[str] = "k-anonymity"
    details: ClassVar[Mapping[str, str]] = {"ncp": "mean", "suppressed": "total", "*": "fact"}

    def __post_init__(self) -> None:
        object.__setattr__(self, "hierarchies", writable(self.hierarchies))

    def apply(self, draft: Draft, key: Key) -> Draft:
        """Search the lattice and publish the best vector; nothing is drawn from the key."""
        from sudare.engine.lattice import Lattice

        names = quasi_columns(draft, self.columns, "lattice-recoding")
        check_k(draft, self.k, "lattice-recoding")
        trees = _all_hierarchies(draft, names, self.hierarchies)
        vectors = prod(tree.levels for tree in trees.values())
        if vectors > MOST_VECTORS:
            raise UsageError(
                f"lattice-recoding: {vectors} combinations of levels; use fewer columns or levels, or local-recoding"
            )
        codes = np.stack([tree.codes(draft.table[name]) for name, tree in trees.items()], axis=1)
        loss = [np.stack([tree.loss[n][tree.up[n]] for n in range(tree.levels)]) for tree in trees.values()]
        lattice = Lattice(
            codes, [tree.up for tree in trees.values()], loss, self.k, int(self.suppress * draft.rows)
        )
        lattice.explore()
        best = lattice.best()
        if best is None:
            raise UsageError("lattice-recoding: no combination of levels reaches k; raise suppress")
        gone = _rows_gone(lattice, codes, best[0])
        table = _recode(draft, trees, best[0], gone)
        return draft.replace(table=table, details=_details(lattice, names, best, int(gone.sum())))


def _all_hierarchies(draft: Draft, names: Sequence[str], given: Hierarchies) -> dict[str, Hierarchy]:
    import pyarrow as pa

    from sudare.data.values.hierarchy_kinds import from_spec
    from sudare.data.values.hierarchy_proposals import propose

    for name in names:
        if pa.types.is_nested(draft.table.schema.field(name).type):
            raise UsageError(f"lattice-recoding: column '{name}' holds lists; leave it out with columns=")
    known = resolve(given, draft.table, names)
    for name in names:
        if name not in known:
            known[name] = from_spec(propose(draft.table[name]), draft.table[name].unique().to_pylist())
    return {name: known[name] for name in names}


def _rows_gone(lattice: Lattice, codes: NDArray[np.int32], vector: tuple[int, ...]) -> NDArray[np.bool_]:
    from sudare.engine.recoding import distinct

    _, value_of, _ = distinct(codes)
    return np.asarray(lattice.marked(vector)[value_of])


def _recode(
    draft: Draft, trees: Mapping[str, Hierarchy], vector: tuple[int, ...], gone: NDArray[np.bool_]
) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    table = draft.table
    for (name, tree), level in zip(trees.items(), vector):
        if level == 0 and not gone.any():
            continue
        labels = tree.decode(tree.generalize(tree.codes(table[name]), level), level)
        cells = pc.if_else(pa.array(gone), pa.scalar(SUPPRESSED), labels)
        table = table.set_column(table.column_names.index(name), name, cells)
    return table


def _details(
    lattice: Lattice, names: Sequence[str], best: tuple[tuple[int, ...], float], suppressed: int
) -> dict[str, Any]:
    from sudare.engine.lattice import ANONYMOUS

    bound = lattice.bounds()
    minimal = sorted(lattice.minimal(), key=lambda vector: (bound[vector], vector))
    return {
        "k": lattice.k,
        "levels": dict(zip(names, best[0])),
        "ncp": best[1],
        "suppressed": suppressed,
        "vectors": int(lattice.status.size),
        "anonymous": int((lattice.status == ANONYMOUS).sum()),
        "checked": lattice.checks,
        "minimal": len(minimal),
        "minimal_levels": [list(vector) for vector in minimal[:SHOWN]],
    }
