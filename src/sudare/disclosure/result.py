"""DisclosureResult: every measure as a row, and as an attribute for those who compute with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from sudare.disclosure.attribute_power import AttributePower
from sudare.disclosure.presence import Presence
from sudare.disclosure.reidentification import Reidentification
from sudare.disclosure.sensitive import Closeness, Diversity, Likeness
from sudare.disclosure.suda import Special
from sudare.engine.classes import Sizes
from sudare.results import Result

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True, repr=False)
class DisclosureResult(Result):
    """What `sudare.disclosure` found.

    `.to_frame()` has one row per measure: measure, variant, attributes, value, meaning. The attributes hold
    the same numbers: `.k`, `.l` (per sensitive column), `.t`, `.uniques`, `.prosecutor.largest`, `.suda`.
    `.journalist` is the highest of `.journalist_models` where the population is a size; `.people` is that size.
    A measure that was not asked for, or has nothing to measure, is None or empty.
    """

    quasi: tuple[str, ...] = ()
    records: int = 0
    sizes: Sizes | None = None
    k_wildcard: int | None = None
    prosecutor: Reidentification | None = None
    journalist: Reidentification | None = None
    journalist_models: Mapping[str, Reidentification] = field(default_factory=dict)
    presence: Presence | None = None
    people: int | None = None
    population: Mapping[str, float | None] = field(default_factory=dict)
    diversity: Mapping[str, Diversity] = field(default_factory=dict)
    closeness: Mapping[str, Closeness] = field(default_factory=dict)
    likeness: Mapping[str, Likeness] = field(default_factory=dict)
    suda: Special | None = None
    attributes: tuple[AttributePower, ...] = ()

    command: ClassVar[str] = "disclosure"

    @property
    def k(self) -> int | None:
        """The people in the smallest class; a missing value is a value of its own."""
        return None if self.sizes is None else self.sizes.k

    @property
    def classes(self) -> int | None:
        """How many classes of equal quasi-identifiers there are."""
        return None if self.sizes is None else self.sizes.total

    @property
    def uniques(self) -> int | None:
        """Sample uniques: classes of one person."""
        return None if self.sizes is None else int(self.sizes.classes[self.sizes.persons == 1].sum())

    @property
    def marketer(self) -> float | None:
        """The share of records that an attacker finds who goes for all of them."""
        return None if self.prosecutor is None else self.prosecutor.mean

    @property
    def l(self) -> dict[str, int]:  # noqa: E743
        """Distinct l per sensitive column."""
        return {column: found.distinct for column, found in self.diversity.items()}

    @property
    def t(self) -> dict[str, float]:
        """t per sensitive column, by the distance that fits it."""
        return {column: found.t for column, found in self.closeness.items()}

    def extra(self) -> dict[str, Any]:
        return {
            "quasi": list(self.quasi),
            "records": self.records,
            "k": self.k,
            "k_wildcard": self.k_wildcard,
            "classes": self.classes,
            "uniques": self.uniques,
            "l": self.l,
            "t": self.t,
            "marketer": self.marketer,
            "journalist_models": {name: asdict(risk) for name, risk in self.journalist_models.items()},
            "distribution": self.distribution(),
        }

    def distribution(self) -> list[dict[str, int]]:
        """How many classes and records there are per class size."""
        if self.sizes is None:
            return []
        columns = (self.sizes.persons, self.sizes.classes, self.sizes.records)
        return [
            dict(zip(("size", "classes", "records"), map(int, row), strict=True))
            for row in zip(*columns, strict=True)
        ]

    def chart(self) -> altair.Chart:
        """The share of records by the size of the class they hide in."""
        from sudare.disclosure.charts import class_sizes

        return class_sizes(self)
